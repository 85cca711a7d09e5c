import type { Chain } from '@chainstead/chains';
import { type Clock, type Finding, findingsOf, toQuantity } from '@chainstead/core';
import { pauseFor } from '../aborting.ts';
import { DEFAULT_LIMITS } from '../limits/call-limits.ts';
import {
  isBlock,
  largestThatWorks,
  type NodeProbe,
  type ProbeAnswer,
  type ProbedBlock,
  probeBlock,
} from './node-probe.ts';

const receipts = findingsOf('receipts by block');
const logRange = findingsOf('eth_getLogs range');
const batches = findingsOf('batches');

const BLOCKS_LOOKED_AT = 8;

export async function checkReceipts(probe: NodeProbe, head: number): Promise<Finding> {
  const block = await newestWithTransactions(probe, head);
  if (block === null)
    return receipts.warning(
      'none of its newest blocks could be read',
      'Receipts are needed to follow the chain.',
      'Check the other findings of this node.',
    );
  const { number } = block.header;
  return receiptsFinding(
    await probe.ask('eth_getBlockReceipts', [toQuantity(number)]),
    number,
    block.transactions,
  );
}

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
      'Each receipt then needs its own call: one per transaction to follow and prove the chain.',
      'Use a node or a plan that supports it, at least in addition to this one.',
    );
  const given = Array.isArray(answer.result) ? answer.result.length : null;
  if (given === transactions) return receipts.ok(`all ${given} of block ${number} at once`);
  return receipts.bad(
    `${given ?? 'no list of'} receipts of block ${number}, which has ${transactions} transactions`,
    'Its responses are incomplete. Chainstead verifies receipts and uses other nodes.',
    'Remove the node, and inform its operator.',
  );
}

const NOBODY = '0x00000000000000000000000000000000c4a15d0e';
const RANGE_STEPS = 10;
const RANGE_GOOD = 1_000;
const RANGE_TOLERANCE = 1.2;

export async function checkLogRange(chain: Chain, probe: NodeProbe, head: number): Promise<Finding> {
  const widest = Math.min(DEFAULT_LIMITS.logRangeMax, head + 1 - Math.min(head, chain.firstBlock));
  const toBlock = toQuantity(head);
  const ask = (blocks: number): Promise<ProbeAnswer> =>
    probe.ask('eth_getLogs', [{ address: NOBODY, fromBlock: toQuantity(head - blocks + 1), toBlock }]);
  const works = async (blocks: number): Promise<boolean> => (await ask(blocks)).ok;
  const all = await ask(widest);
  if (all.ok)
    return logRange.ok(`${widest} blocks${widest < DEFAULT_LIMITS.logRangeMax ? ', all there are' : ''}`);
  if (!(await works(1)))
    return logRange.bad(
      `not even one block: ${all.text}`,
      'Backfills use eth_getLogs.',
      'Use a node or a plan that supports it.',
    );
  const limit = await widestRange(all.limitBlocks, widest, works);
  if (limit >= RANGE_GOOD) return logRange.ok(`${limit} blocks or so`);
  return logRange.warning(
    `${limit} ${limit === 1 ? 'block' : 'blocks or so'}: ${all.text}`,
    `Reading the whole history takes about ${Math.ceil((head + 1) / limit).toLocaleString('en-US')} calls.`,
    'Backfill with a node or a plan with a wider range, or start at a later block (START_BLOCK).',
  );
}

/** A range that a refusal states, or one that its wording stands for, may be narrower than the node's own. */
async function widestRange(
  stated: number | null,
  fails: number,
  works: (blocks: number) => Promise<boolean>,
): Promise<number> {
  const search = (known: number) => largestThatWorks({ works: known, fails, steps: RANGE_STEPS }, works);
  if (stated === null || stated <= 1 || stated >= fails || !(await works(stated))) return search(1);
  const wider = Math.ceil(stated * RANGE_TOLERANCE);
  return wider < fails && (await works(wider)) ? search(wider) : stated;
}

const BATCH_STEPS = 6;
/** The program sends no larger batches at a learned rate. */
const BATCH_SECONDS = 0.5;
/** Refills what a node counts by the second. */
const BATCH_PAUSE_MS = 1_500;
const BATCH_TRIES = 3;

export async function checkBatches(probe: NodeProbe, clock: Clock, signal: AbortSignal): Promise<Finding> {
  const rate = probe.measuredRate ?? probe.learnedRate;
  const byRate = rate === null ? Number.POSITIVE_INFINITY : Math.floor(rate * BATCH_SECONDS);
  const largest = Math.max(2, Math.min(DEFAULT_LIMITS.batchSizeMax, byRate));
  let text = '';
  let isThrottled = false;
  const works = async (size: number): Promise<boolean> => {
    const refused = await refusalOf(probe, size, clock, signal);
    if (refused?.reaction === 'throttled') isThrottled = true;
    else text = refused?.text ?? text;
    return refused === null;
  };
  if (await works(largest))
    return batches.ok(`of ${largest} calls${largest === byRate ? ', half a second of its rate limit' : ''}`);
  if (largest > 2 && (await works(2))) {
    const limit = await largestThatWorks({ works: 2, fails: largest, steps: BATCH_STEPS }, works);
    return batches.ok(`of ${limit} calls; larger ones are rejected, then split`);
  }
  if (isThrottled) return batches.ok('not determined, because the node limits its rate');
  return batches.warning(
    `rejected: ${text}`,
    'Each call is a separate request. Reads are slower, especially with a distant node.',
    'Use a provider that accepts batches, or a nearby node.',
  );
}

/** Null: accepted. A refusal because of the rate is tried again. */
async function refusalOf(probe: NodeProbe, size: number, clock: Clock, signal: AbortSignal) {
  const calls = Array.from({ length: size }, () => ({ method: 'eth_chainId', params: [] }));
  for (let tries = 1; ; tries++) {
    const refusals = (await probe.fetchTogether(calls)).filter((answer) => !answer.ok);
    const [refused = null] = refusals;
    if (refused === null) return null;
    const throttled = refusals.find(({ reaction }) => reaction === 'throttled');
    if (throttled === undefined) return refused;
    if (tries === BATCH_TRIES) return throttled;
    await pauseFor(clock, BATCH_PAUSE_MS, signal);
  }
}
