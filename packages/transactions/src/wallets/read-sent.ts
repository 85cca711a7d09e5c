/**
 * Looks for the transactions that a wallet sent in blocks that nobody searched for it: where its count of transactions changed, by bisection
 * (`find-nonce-changes.ts`), then in those blocks, each read whole and proven.
 */
import type { ReadSender } from '@chainstead/answers';
import { requestHistory, saveEstimate } from '@chainstead/sync';
import { estimateCounts, narrow, type Stretch, stretchOf } from './find-nonce-changes.ts';
import {
  CALLS_PER_BLOCK,
  keepBlocks,
  narrowDown,
  type SearchTurn,
  type SpanSteps,
  searchHistory,
  type TurnEnd,
} from './search-history.ts';

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
  const steps: SpanSteps<Stretch> = {
    oneByOne: isContract,
    narrow: async (left, blocks) => narrow(left, await countsAt(turn, blocks)),
    keep: async (left, chosen) => {
      const kept = await keepSent(turn, left, chosen, signal);
      // What contracts create raises their count. They send nothing, but on chains whose wallets are contracts.
      return isContract && kept.sent === 0 ? [] : kept.left;
    },
  };
  return narrowDown(turn, open, steps, signal);
}

/** Before the first block nobody has sent anything. */
async function stretchesOf(turn: SearchTurn): Promise<readonly Stretch[]> {
  const { ranges } = turn;
  const borders = [...new Set(ranges.flatMap(({ from, to }) => [from - 1, to]))].filter((block) => block >= 0);
  const at = await countsAt(turn, borders);
  return ranges.flatMap((range) => stretchOf(range, at.get(range.from - 1) ?? 0, at.get(range.to) ?? 0));
}

async function countsAt({ node }: SearchTurn, blocks: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const counts = await node.countsAt(blocks);
  return new Map(blocks.map((block, place) => [block, counts[place] ?? 0]));
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
