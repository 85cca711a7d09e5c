import type { Chain } from '@chainstead/chains';
import { createChainRegistry } from '@chainstead/chains';
import { type Finding, findingsOf, quotable } from '@chainstead/core';
import type { NodeProbe, ProbeAnswer } from './node-probe.ts';

const chainId = findingsOf('chain id');
const client = findingsOf('client');

/** Whether the node is of this chain at all. Nothing else needs to be asked where it is `bad`. */
export async function checkChainId(chain: Chain, probe: NodeProbe): Promise<Finding> {
  const answer = await probe.ask('eth_chainId', []);
  if (!answer.ok) return unusable(answer);
  const id = Number(answer.result);
  if (id === chain.id || chain.aliasIds.includes(id)) return chainId.ok(`${id} (${chain.key})`);
  const other = createChainRegistry().find(id);
  const shown = Number.isSafeInteger(id) ? `${id}${other === null ? '' : ` (${other.key})`}` : 'no number';
  return chainId.bad(
    `${shown}, not ${chain.id} (${chain.key})`,
    'It is of another chain: Chainstead leaves it out.',
    other === null ? 'Correct the URL.' : `Correct the URL, or give it to the chain ${other.key}.`,
  );
}

function unusable({ reaction, text }: Extract<ProbeAnswer, { ok: false }>): Finding {
  const connection = findingsOf('connection');
  if (reaction === 'misconfigured' || reaction === 'out-of-budget')
    return connection.bad(
      `refused: ${text}`,
      'The provider does not let these calls through.',
      'Check the key in the URL, the plan that it belongs to, and what is left of its budget.',
    );
  if (reaction === 'transport' || reaction === 'timeout')
    return connection.bad(
      `no answer: ${text}`,
      'Nothing can be read from it.',
      'Check the URL, that the node runs, that its JSON-RPC port listens to this machine, and what is between.',
    );
  return connection.bad(
    `no JSON-RPC node answers there: ${text}`,
    'Nothing can be read from it.',
    'Check path and port of the URL: it has to be the JSON-RPC address of a node.',
  );
}

/** What the node calls itself. */
export async function checkClient(probe: NodeProbe): Promise<Finding> {
  const answer = await probe.ask('web3_clientVersion', []);
  return client.ok(
    answer.ok && typeof answer.result === 'string' ? quotable(answer.result) : 'does not say what it is',
  );
}
