/**
 * Looks for the transactions that a wallet sent in blocks that nobody searched for it: where its count of transactions changed, by bisection
 * (`find-nonce-changes.ts`), then in those blocks, each read whole and proven.
 */
import type { ReadSender } from '@chainstead/answers';
import { requestHistory, saveEstimate } from '@chainstead/sync';
import { estimateCounts, narrow, type Stretch, stretchOf } from './find-nonce-changes.ts';
import { blocksToAsk, isSingle } from './halving.ts';
import {
  CALLS_PER_BLOCK,
  endOfTurn,
  keepBlocks,
  type SearchTurn,
  searchHistory,
  type TurnEnd,
} from './search-history.ts';

/** Counts that are asked for at once: enough for a batch, few enough to lose little when the process ends. */
const COUNTS_AT_ONCE = 16;
/** Blocks that are read at once. */
const BLOCKS_AT_ONCE = 4;

export const readSender: ReadSender = async (reading, subject, signal) => {
  const outcome = await searchHistory(reading, subject, signal, {
    missingOf: ({ missing }) => missing,
    awaitsNewest: true,
    run,
  });
  // What it received is told by its balances once all is known that it sent. No request of a key's own: there is one for each search that ends.
  if (outcome === 'done')
    await requestHistory(reading.database, {
      subject: { ...subject, kind: 'receiver' },
      requestedBy: null,
      perKey: Number.POSITIVE_INFINITY,
      maxCalls: reading.maxCalls,
    });
  return outcome;
};

async function run(turn: SearchTurn, signal: AbortSignal): Promise<TurnEnd> {
  const { node, reading, subject } = turn;
  // Settles wallets that only receive, also where no node has old state.
  const [newest] = await node.countsAt(['latest']);
  if (newest === 0) {
    turn.open = [];
    return 'done';
  }
  const isContract = await node.isContract();
  const open = await stretchesOf(turn);
  turn.open = open;
  const sent = open.reduce((sum, { count, countBefore }) => sum + count - countBefore, 0);
  await saveEstimate(reading.database, subject, node.callsMade() + estimateCounts(open) + CALLS_PER_BLOCK * sent);
  return narrowDown(turn, open, isContract, signal);
}

/** Before the first block nobody has sent anything. */
async function stretchesOf({ ranges, node }: SearchTurn): Promise<readonly Stretch[]> {
  const borders = [...new Set(ranges.flatMap(({ from, to }) => [from - 1, to]))].filter((block) => block >= 0);
  const counts = await node.countsAt(borders);
  const at = new Map(borders.map((block, place) => [block, counts[place] ?? 0]));
  return ranges.flatMap((range) => stretchOf(range, at.get(range.from - 1) ?? 0, at.get(range.to) ?? 0));
}

async function narrowDown(
  turn: SearchTurn,
  first: readonly Stretch[],
  isContract: boolean,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const { node } = turn;
  const [countsAtOnce, blocksAtOnce] = isContract ? [1, 1] : [COUNTS_AT_ONCE, BLOCKS_AT_ONCE];
  for (let left = first; left.length > 0; turn.open = left) {
    signal.throwIfAborted();
    const end = endOfTurn(turn);
    if (end !== null) return end;
    const singles = left.filter(isSingle);
    const blocks = blocksToAsk(left, countsAtOnce);
    if (singles.length < blocksAtOnce && blocks.length > 0) {
      const counts = await node.countsAt(blocks);
      left = narrow(left, new Map(blocks.map((block, place) => [block, counts[place] ?? 0])));
      continue;
    }
    const kept = await keepSent(turn, left, singles.slice(-blocksAtOnce), signal);
    // What contracts create raises their count. They send nothing, but on chains whose wallets are contracts.
    left = isContract && kept.sent === 0 ? [] : kept.left;
  }
  return 'done';
}

/** @returns what is left, and how many transactions of those blocks the wallet sent */
async function keepSent(
  turn: SearchTurn,
  spans: readonly Stretch[],
  chosen: readonly Stretch[],
  signal: AbortSignal,
): Promise<{ readonly left: readonly Stretch[]; readonly sent: number }> {
  const { left, found } = await keepBlocks(turn, {
    ...{ spans, chosen },
    read: async ({ until }) => ({ block: await turn.store.read(until, signal), calls: [] }),
  });
  const sent = found.flatMap(({ block: { transactions, committed } }) =>
    transactions.filter(({ hash, from }) => committed.has(hash) && from === turn.subject.address),
  );
  return { left, sent: sent.length };
}
