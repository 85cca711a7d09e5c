import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Finding, findingsOf, quotable } from '@chainstead/core';
import type { NodeProbe, ProbeAnswer } from './node-probe.ts';

const chainId = findingsOf('chain id');
const client = findingsOf('client');

export async function checkChainId(chain: Chain, probe: NodeProbe): Promise<Finding> {
  const answer = await probe.ask('eth_chainId', []);
  if (!answer.ok) return unusable(answer);
  const id = Number(answer.result);
  if (id === chain.id || chain.aliasIds.includes(id)) return chainId.ok(`${id} (${chain.key})`);
  const other = createChainRegistry().find(id);
  const shown = Number.isSafeInteger(id) ? `${id}${other === null ? '' : ` (${other.key})`}` : 'no number';
  return chainId.bad(
    `${shown}, not ${chain.id} (${chain.key})`,
    'The node belongs to another chain. Chainstead ignores it.',
    other === null ? 'Correct the URL.' : `Correct the URL, or move it to the chain ${other.key}.`,
  );
}

function unusable({ reaction, text }: Extract<ProbeAnswer, { ok: false }>): Finding {
  const connection = findingsOf('connection');
  if (reaction === 'misconfigured' || reaction === 'out-of-budget')
    return connection.bad(
      `refused: ${text}`,
      'The provider rejects these calls.',
      'Check the key in the URL, its plan, and its remaining budget.',
    );
  if (reaction === 'transport' || reaction === 'timeout')
    return connection.bad(
      `no answer: ${text}`,
      'Nothing can be read from it.',
      'Check the URL, the node, its JSON-RPC port, and the network between it and this machine.',
    );
  return connection.bad(
    `no JSON-RPC node responds there: ${text}`,
    'Nothing can be read from it.',
    'Check the path and port of the URL. It has to be the JSON-RPC address of a node.',
  );
}

export async function checkClient(probe: NodeProbe): Promise<Finding> {
  const answer = await probe.ask('web3_clientVersion', []);
  const name = answer.ok && typeof answer.result === 'string' ? quotable(answer.result) : null;
  return client.ok(name ?? 'does not report its name');
}
