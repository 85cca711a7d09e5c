import type { Chain } from '@chainstead/chains';
import { type Finding, findingsOf, toQuantity } from '@chainstead/core';
import { DEFAULT_LIMITS } from '../pool-limits.ts';
import type { NodeProbe, ProbeAnswer } from './node-probe.ts';
import { isBlock, largestThatWorks, type ProbedBlock, probeBlock } from './read-answers.ts';

const receipts = findingsOf('receipts by block');
const logRange = findingsOf('eth_getLogs range');
const batches = findingsOf('batches');

/** Of the newest ones, the first with transactions is looked at. */
const BLOCKS_LOOKED_AT = 8;

/** Whether all receipts of a block come at once, and all of them. */
export async function checkReceipts(probe: NodeProbe, head: number): Promise<Finding> {
  const block = await newestWithTransactions(probe, head);
  if (block === null)
    return receipts.warning(
      'none of its newest blocks could be read',
      'Blocks are followed by their receipts.',
      'Look what else is told of it.',
    );
  const { number } = block.header;
  return receiptsFinding(await probe.ask('eth_getBlockReceipts', [toQuantity(number)]), number, block.transactions);
}

/** Where the newest ones are all empty, one of them. */
async function newestWithTransactions(probe: NodeProbe, head: number): Promise<ProbedBlock | null> {
  let empty: ProbedBlock | null = null;
  for (let number = head; number >= 0 && number > head - BLOCKS_LOOKED_AT; number--) {
    const block = await probeBlock(probe, number);
    if (!isBlock(block)) continue;
    if (block.transactions > 0) return block;
    empty ??= block;
  }
  return empty;
}

function receiptsFinding(answer: ProbeAnswer, number: number, transactions: number): Finding {
  if (!answer.ok)
    return receipts.warning(
      `eth_getBlockReceipts is not served: ${answer.text}`,
      'Each receipt is a call then: following and proving a chain takes as many calls as it has transactions.',
      'Use a node or a plan that serves it, beside this one at least.',
    );
  const given = Array.isArray(answer.result) ? answer.result.length : null;
  if (given === transactions) return receipts.ok(`all ${given} of block ${number} at once`);
  return receipts.bad(
    `${given ?? 'no list of'} receipts of block ${number}, which has ${transactions} transactions`,
    'What it gives is incomplete. Chainstead proves receipts, and asks elsewhere.',
    'Leave it out, and tell its operator.',
  );
}

/** Nobody has this address, so nothing but the range makes an answer large. */
const NOBODY = '0x00000000000000000000000000000000c4a15d0e';
const RANGE_STEPS = 10;
const RANGE_GOOD = 1_000;

/** How many blocks one eth_getLogs may span. */
export async function checkLogRange(chain: Chain, probe: NodeProbe, head: number): Promise<Finding> {
  const widest = Math.min(DEFAULT_LIMITS.logRangeMax, head + 1 - Math.min(head, chain.firstBlock));
  const ask = (blocks: number): Promise<ProbeAnswer> =>
    probe.ask('eth_getLogs', [
      { address: NOBODY, fromBlock: toQuantity(head - blocks + 1), toBlock: toQuantity(head) },
    ]);
  const works = async (blocks: number): Promise<boolean> => (await ask(blocks)).ok;
  const all = await ask(widest);
  if (all.ok) return logRange.ok(`${widest} blocks${widest < DEFAULT_LIMITS.logRangeMax ? ', all there are' : ''}`);
  if (!(await works(1)))
    return logRange.bad(
      `not even one block: ${all.text}`,
      'Histories are read by eth_getLogs.',
      'Use a node or a plan that serves it.',
    );
  const told = all.limitBlocks;
  const limit =
    told !== null && told > 1 && told < widest && (await works(told))
      ? told
      : await largestThatWorks({ works: 1, fails: widest, steps: RANGE_STEPS }, works);
  if (limit >= RANGE_GOOD) return logRange.ok(`${limit} blocks or so`);
  return logRange.warning(
    `${limit} ${limit === 1 ? 'block' : 'blocks or so'}: ${all.text}`,
    `Reading the whole history takes about ${Math.ceil((head + 1) / limit).toLocaleString('en-US')} calls.`,
    'Fill history from a node or a plan with a wider range, or let it begin later (START_BLOCK).',
  );
}

const BATCH_SIZES = [DEFAULT_LIMITS.batchSizeMax, 20, 5, 2];

/** How many calls one request may hold. */
export async function checkBatches(probe: NodeProbe): Promise<Finding> {
  let refusal = '';
  for (const size of BATCH_SIZES) {
    const calls = Array.from({ length: size }, () => ({ method: 'eth_chainId', params: [] }));
    const answers = await probe.askTogether(calls);
    const refused = answers.find((answer) => !answer.ok);
    if (refused === undefined) {
      if (size === DEFAULT_LIMITS.batchSizeMax) return batches.ok(`of ${size} calls`);
      return batches.ok(`of ${size} calls; larger ones are refused, and then made smaller`);
    }
    if (!refused.ok) refusal = refused.text;
  }
  return batches.warning(
    `not taken: ${refusal}`,
    'Each call is a request of its own: reading is slower, the farther away the node is the more.',
    'Use a provider that takes batches, or a node nearby.',
  );
}
