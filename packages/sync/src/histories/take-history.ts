/** What the work on every kind of history has in common: how it is taken up, how it ends, and what is recorded of it. */
import type { Chain } from '@chainstead/chains';
import type { Logger } from '@chainstead/core';
import { type Database, failureLevel, WorkSetAsideError } from '@chainstead/db';
import {
  beginHistory,
  failHistory,
  type HistoryRecord,
  postponeHistory,
  refuseHistory,
  refuseWithoutArchive,
  setAsideHistory,
} from './history-record.ts';
import type { Subject } from './subject.ts';

/**
 * `more`: it gave way; `waits`: what is left is not final yet; `refused`: too many calls, set aside, or no archive node; `idle`: there was
 * nothing to do.
 */
export type HistoryOutcome = 'done' | 'more' | 'waits' | 'refused' | 'failed' | 'idle';

export interface HistoryPlace {
  readonly chain: Chain;
  readonly database: Database;
  readonly logger: Logger;
}

/** Until it is looked at again whether the newest blocks are final, or the chain has begun. */
const WAIT_MS = 15_000;

/** Takes a history up and works on it, unless there is nothing to do. What fails is recorded and tried again later; only an abort is thrown. */
export async function takeHistory(
  { chain, database, logger }: HistoryPlace,
  subject: Subject,
  signal: AbortSignal,
  work: (record: HistoryRecord) => Promise<HistoryOutcome>,
): Promise<HistoryOutcome> {
  const record = await beginHistory(database, subject);
  if (record === null) return 'idle';
  try {
    return await work(record);
  } catch (error) {
    // The process ends: it stays `running`, and the next one takes it up.
    if (signal.aborted) throw error;
    if (error instanceof WorkSetAsideError) {
      logger.warn({ chain: chain.key, kind: subject.kind, subject: subject.address, err: error }, 'History refused');
      await setAsideHistory(database, subject, error);
      return 'refused';
    }
    logger[failureLevel(error)](
      { chain: chain.key, kind: subject.kind, subject: subject.address, err: error },
      'History failed',
    );
    await failHistory(database, subject, error);
    return 'failed';
  }
}

/** Puts it back for a while: what is left can't be read yet. */
export async function awaitMore(
  { chain, database, logger }: HistoryPlace,
  subject: Subject,
  reason: string,
): Promise<HistoryOutcome> {
  logger.debug({ chain: chain.key, kind: subject.kind, subject: subject.address, reason }, 'History waits');
  await postponeHistory(database, subject, WAIT_MS);
  return 'waits';
}

/** It takes more node calls than one history may. @param calls those still expected; null: the limit is used up */
export async function refuseForCalls(
  { chain, database, logger, maxCalls }: HistoryPlace & { readonly maxCalls: number },
  subject: Subject,
  { made, expected }: { readonly made: number; readonly expected: number | null },
): Promise<HistoryOutcome> {
  const message =
    expected === null
      ? `It has taken ${made} node calls and is not complete; ON_DEMAND_MAX_CALLS allows ${maxCalls}`
      : `It would take about ${made + expected} node calls; ON_DEMAND_MAX_CALLS allows ${maxCalls}`;
  logger.warn({ chain: chain.key, kind: subject.kind, subject: subject.address }, `History refused: ${message}`);
  await refuseHistory(database, subject, maxCalls + 1, message);
  return 'refused';
}

/** No upstream has the old state, or the old blocks, that it is told from. */
export async function refuseForArchive(
  { chain, database, logger }: HistoryPlace,
  subject: Subject,
  reason: string,
): Promise<HistoryOutcome> {
  const message = `No upstream of ${chain.key} has the state of old blocks, which takes an archive node: ${reason}`;
  logger.warn({ chain: chain.key, kind: subject.kind, subject: subject.address }, `History refused: ${message}`);
  await refuseWithoutArchive(database, subject, message);
  return 'refused';
}
