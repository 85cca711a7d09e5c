import type { BlockRange, Hash } from '@chainstead/core';
import type { RangeSubject } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { HistoryOutcome } from './claim-history.ts';
import { commitChunk } from './commit-chunk.ts';
import { endOfTurn, type HistoryTurn, runRisky } from './history-turn.ts';
import { readTransactions } from './read-transactions.ts';
import type { SentTransaction } from './sent-transactions.ts';

interface TransactionsChunk {
  readonly dataset: Dataset;
  /** The found transactions are all of these blocks. */
  readonly range: BlockRange;
  readonly found: readonly SentTransaction[];
  readonly calls: number;
  /** @default the subject */
  readonly recordedAs?: RangeSubject;
}

const PIECE = 100;

/** Each piece is recorded with its blocks. Null: the turn continues. */
export async function writeTransactions(
  turn: HistoryTurn,
  { dataset, range, found, calls, recordedAs }: TransactionsChunk,
  signal: AbortSignal,
): Promise<HistoryOutcome | null> {
  const { chain, pool, logger, subject } = turn;
  let unrecorded = calls;
  for (const [index, piece] of piecesOf(found, range).entries()) {
    signal.throwIfAborted();
    // The first piece is always written, so that every turn makes progress.
    const ended = index === 0 ? null : await endOfTurn(turn);
    if (ended !== null) return ended;
    await runRisky(turn, async () => {
      const read = await readTransactions({ chain, pool, logger, dataset, subject }, piece.found, signal);
      turn.made += read.calls;
      const part = { found: { rows: read.rows }, blocks: read.blocks, calls: unrecorded + read.calls };
      const chunk = { subject, dataset, range: piece.range, read: part, ...(recordedAs && { recordedAs }) };
      await commitChunk(turn, chunk, signal);
    });
    unrecorded = 0;
  }
  return null;
}

export function piecesOf(
  found: readonly SentTransaction[],
  range: BlockRange,
  size: number = PIECE,
): readonly { readonly range: BlockRange; readonly found: readonly SentTransaction[] }[] {
  const unique = new Map<Hash, SentTransaction>(found.map((transaction) => [transaction.hash, transaction]));
  const newestFirst = [...unique.values()].toSorted((a, b) => b.block - a.block);
  const pieces: { range: BlockRange; found: SentTransaction[] }[] = [];
  let held: SentTransaction[] = [];
  let { to } = range;
  for (const [index, transaction] of newestFirst.entries()) {
    held.push(transaction);
    const { block } = transaction;
    const next = newestFirst[index + 1];
    if (next === undefined || held.length < size || next.block === block) continue;
    pieces.push({ range: { from: block, to }, found: held });
    [held, to] = [[], block - 1];
  }
  return [...pieces, { range: { from: range.from, to }, found: held }];
}
