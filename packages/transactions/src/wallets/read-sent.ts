/**
 * Looks for the transactions that a wallet sent in blocks that nobody searched for it: where its count of transactions changed, by bisection
 * (`find-nonce-changes.ts`), then in those blocks, each read whole and proven.
 */
import type { ReadSender } from '@chainstead/answers';
import { requestHistory, saveEstimate } from '@chainstead/sync';
import { estimateCounts, narrow, type Stretch, stretchOf } from './find-nonce-changes.ts';
import { recordMarked } from './named-ranges.ts';
import { readNamed } from './read-named.ts';
import { receiveNewest } from './read-received.ts';
import {
  CALLS_PER_BLOCK,
  keepBlocks,
  narrowDown,
  type SearchTurn,
  type SpanSteps,
  searchHistory,
  type TurnEnd,
} from './search-history.ts';
import { readStoredSent } from './stored-sent.ts';

export const readSender: ReadSender = async (reading, subject, signal) => {
  const outcome = await searchHistory(reading, subject, signal, {
    missingOf: ({ missing }) => missing,
    awaitsNewest: true,
    run,
    runNewest,
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
  const named = isContract ? 'none' : await readNamed(turn, signal);
  if (named === 'calls' || named === 'time') return named;
  const isStored = isContract ? () => false : await storedIn(turn);
  const open = (await stretchesOf(turn)).filter((stretch) => !isStored(stretch));
  turn.open = open;
  if (named === 'done') await doubt(turn, open);
  const sent = open.reduce((sum, { count, countBefore }) => sum + count - countBefore, 0);
  await saveEstimate(reading.database, subject, node.callsMade() + estimateCounts(open) + CALLS_PER_BLOCK * sent);
  const steps: SpanSteps<Stretch> = {
    oneByOne: isContract,
    narrow: async (left, blocks) => narrow(left, await countsAt(turn, blocks)).filter((stretch) => !isStored(stretch)),
    keep: async (left, chosen) => {
      const kept = await keepSent(turn, left, chosen, signal);
      // What contracts create raises their count. They send nothing, but on chains whose wallets are contracts.
      return isContract && kept.sent === 0 ? [] : kept.left;
    },
  };
  return narrowDown(turn, open, steps, signal);
}

/** What the wallet sent in the newest blocks, then what it received there: a new wallet's first transaction is among them, whatever side it was on. */
async function runNewest(turn: SearchTurn, signal: AbortSignal): Promise<TurnEnd> {
  const [count] = await turn.node.countsAt([turn.ranges.at(-1)?.to ?? 0]);
  const open = count === 0 ? [] : await stretchesOf(turn);
  turn.open = open;
  const steps: SpanSteps<Stretch> = {
    narrow: async (left, blocks) => narrow(left, await countsAt(turn, blocks)),
    keep: async (left, chosen) => (await keepSent(turn, left, chosen, signal)).left,
  };
  const end = await narrowDown(turn, open, steps, signal);
  return end === 'done' ? receiveNewest(turn, signal) : end;
}

/** Whether all transactions are stored that it sent in a stretch: those of blocks that an index named, and of those that others were searched for. */
function storedIn({
  reading: { database, chain },
  subject,
  ranges,
}: SearchTurn): Promise<(stretch: Stretch) => boolean> {
  const [from, to] = [ranges[0]?.from ?? 0, ranges.at(-1)?.to ?? 0];
  return readStoredSent(database, chain, subject.address, { from, to });
}

/** Of blocks in which it left out what the wallet sent, an index is not believed that it named all that others did. */
async function doubt({ reading: { database }, subject }: SearchTurn, open: readonly Stretch[]): Promise<void> {
  if (open.length === 0) return;
  const doubted = open.map(({ after, until }) => ({ from: after + 1, to: until }));
  await database.transaction((transaction) => recordMarked(transaction, subject, 'doubted', doubted));
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
