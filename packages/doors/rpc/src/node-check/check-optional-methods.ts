import { type Finding, findingsOf, toQuantity, ZERO_ADDRESS } from '@chainstead/core';
import type { NodeProbe } from './node-probe.ts';

const traces = findingsOf('traces');
const proofs = findingsOf('account proofs');
const accounts = findingsOf('account index');
/** Few for a node that scans blocks; more than nodes that trace allow. */
const INDEXED_BLOCKS = 2_000;

export async function checkTraces(probe: NodeProbe, head: number, needed: boolean): Promise<Finding> {
  const block = toQuantity(head);
  const debug = await probe.ask('debug_traceBlockByNumber', [block, { tracer: 'callTracer' }]);
  const parity = await probe.ask('trace_block', [block]);
  const served = [...(debug.ok ? ['debug_traceBlockByNumber'] : []), ...(parity.ok ? ['trace_block'] : [])];
  if (served.length > 0) return traces.ok(served.join(' and '));
  if (!needed) return traces.ok('none; no indexed dataset needs them');
  return traces.warning(
    `none: ${debug.ok ? '' : debug.text}`,
    'Internal transactions are missing if no other node of the chain has traces.',
    'Add a node with debug_traceBlockByNumber or trace_block, or enable this API on the node.',
  );
}

export async function checkAccountProofs(probe: NodeProbe, head: number): Promise<Finding> {
  const answer = await probe.ask('eth_getProof', [ZERO_ADDRESS, [], toQuantity(head)]);
  if (answer.ok) return proofs.ok('eth_getProof');
  return proofs.warning(
    `eth_getProof is not served: ${answer.text}`,
    'Only `chainstead verify-balances` needs proofs. Without them, it compares nodes with each other.',
    'No action needed, unless you want proven balances.',
  );
}

export async function checkAccountIndex(probe: NodeProbe, head: number): Promise<Finding> {
  const pages = await probe.ask('ots_searchTransactionsBefore', [ZERO_ADDRESS, 0, 1]);
  const [fromBlock, toBlock] = [toQuantity(Math.max(0, head - INDEXED_BLOCKS)), toQuantity(head)];
  const filter = await probe.ask('trace_filter', [{ fromBlock, toBlock, fromAddress: [ZERO_ADDRESS], count: 1 }]);
  const served = [...(pages.ok ? ['ots_searchTransactionsBefore'] : []), ...(filter.ok ? ['trace_filter'] : [])];
  if (served.length > 0)
    return accounts.ok(`${served.join(' and ')}: older transactions of wallets are read from it`);
  return accounts.ok('none; older transactions of wallets are found by their counts and balances');
}
