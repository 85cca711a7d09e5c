/** Reads and writes an account's rows of found transactions in pieces, newest first. */
import type { BlockRange, Hash } from '@chainstead/core';
import type { RangeSubject } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { HistoryOutcome } from './claim-history.ts';
import { commitChunk } from './commit-chunk.ts';
import { endOfTurn, runRisky, type Turn } from './history-turn.ts';
import { type FoundTransaction, readTransactions } from './read-transactions.ts';

interface TransactionsChunk {
  readonly dataset: Dataset;
  /** The found transactions are all of these blocks. */
  readonly range: BlockRange;
  /** A transaction may appear several times. */
  readonly found: readonly FoundTransaction[];
  /** Node calls that found them, to be recorded. */
  readonly calls: number;
  /** Subject that the range is recorded for. @default the subject */
  readonly recordedAs?: RangeSubject;
}

/** Transactions per piece: each takes one call, or three. A piece is written in one transaction. */
const PIECE = 100;

/**
 * Reads and writes the rows. Each piece is recorded with its blocks, so that the backfill resumes there.
 * @returns why the turn is over; null while it is not
 */
export async function writeTransactions(
  turn: Turn,
  { dataset, range, found, calls, recordedAs }: TransactionsChunk,
  signal: AbortSignal,
): Promise<HistoryOutcome | null> {
  const { chain, pool, logger, subject } = turn;
  let unrecorded = calls;
  for (const [place, piece] of piecesOf(found, range).entries()) {
    signal.throwIfAborted();
    // The first piece is always written, so that every turn makes progress.
    const ended = place === 0 ? null : await endOfTurn(turn);
    if (ended !== null) return ended;
    await runRisky(turn, async () => {
      const read = await readTransactions({ chain, pool, logger, dataset, subject }, piece.found, signal);
      turn.made += read.calls;
      const part = { found: { rows: read.rows }, blocks: read.blocks, calls: unrecorded + read.calls };
      const recording = recordedAs === undefined ? {} : { recordedAs };
      await commitChunk(turn, { subject, dataset, range: piece.range, read: part, ...recording }, signal);
    });
    unrecorded = 0;
  }
  return null;
}

/** Cuts the range between blocks, newest first. A range without a transaction is one piece. */
export function piecesOf(
  found: readonly FoundTransaction[],
  range: BlockRange,
  size: number = PIECE,
): readonly { readonly range: BlockRange; readonly found: readonly FoundTransaction[] }[] {
  const unique = new Map<Hash, FoundTransaction>(found.map((one) => [one.hash, one]));
  const newestFirst = [...unique.values()].toSorted((one, other) => other.block - one.block);
  const pieces: { range: BlockRange; found: FoundTransaction[] }[] = [];
  let held: FoundTransaction[] = [];
  let { to } = range;
  for (const [place, one] of newestFirst.entries()) {
    held.push(one);
    const next = newestFirst[place + 1];
    if (next === undefined || held.length < size || next.block === one.block) continue;
    pieces.push({ range: { from: one.block, to }, found: held });
    [held, to] = [[], one.block - 1];
  }
  return [...pieces, { range: { from: range.from, to }, found: held }];
}
