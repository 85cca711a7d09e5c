/** One turn of a worker at an on-demand backfill. */
import { UNWRITTEN } from '@chainstead/db';
import type { ClaimOwner } from '../../coverage/claims.ts';
import type { Subject } from '../../coverage/subject.ts';
import { type HistoryOutcome, refuseForCalls } from '../claim-history.ts';
import { postponeHistory } from '../history-record.ts';
import type { HistoryOptions } from '../read-history.ts';

export interface Turn extends HistoryOptions {
  readonly owner: ClaimOwner;
  readonly subject: Subject;
  /** Node calls made for the backfill, in all turns. */
  made: number;
  /** When it yields to others. Milliseconds since the epoch. */
  readonly ends: number;
}

/** Returns why the turn is over, and records it; null while it is not. */
export async function endOfTurn(turn: Turn): Promise<HistoryOutcome | null> {
  const { database, subject, clock, made, maxCalls, ends } = turn;
  if (made >= maxCalls) return refuseForCalls(turn, subject, { made, expected: null });
  if (clock.now() < ends) return null;
  await postponeHistory(database, subject, 0);
  return 'more';
}

/** Runs work that might crash the process. Recorded per chunk, because suspects run alone and wait for each other. */
export function runRisky<T>({ chain, subject, journal = UNWRITTEN }: Turn, work: () => Promise<T>): Promise<T> {
  return journal.run({ kind: 'history', keys: [`${chain.id} ${subject.kind} ${subject.address}`] }, work);
}
