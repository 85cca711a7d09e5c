import type { Chain } from '@chainstead/chains';
import type { Logger } from '@chainstead/core';
import { type Database, failureLevel, WorkSetAsideError } from '@chainstead/db';
import { FilesLackBlocksError } from '@chainstead/sources';
import type { Subject } from '../coverage/subject.ts';
import type { CallBudget, TurnCalls } from './call-budget.ts';
import {
  awaitCalls,
  type BegunHistory,
  beginHistory,
  failHistory,
  postponeHistory,
  refuseHistory,
  refuseWithoutArchive,
  refuseWithoutFiles,
  setAsideHistory,
} from './history-record.ts';

/** `waits`: blocks are not final yet, or the calls of the key are used up; `refused`: too many calls, quarantine, no archive node, or no era file. */
export type HistoryOutcome = 'done' | 'more' | 'waits' | 'refused' | 'failed' | 'idle';

export interface HistoryPlace {
  readonly chain: Chain;
  readonly database: Database;
  readonly logger: Logger;
  /** @default unlimited */
  readonly budget?: CallBudget | undefined;
}

/** Until finality, or the start of the chain, is checked again. */
const WAIT_MS = 15_000;

/** Failures are recorded and retried later. @throws only if aborted */
export async function claimHistory(
  { chain, database, logger, budget }: HistoryPlace,
  subject: Subject,
  signal: AbortSignal,
  work: (record: BegunHistory, calls: TurnCalls) => Promise<HistoryOutcome>,
): Promise<HistoryOutcome> {
  const record = await beginHistory(database, subject);
  if (record === null) return 'idle';
  const fields = { chain: chain.key, kind: subject.kind, subject: subject.address };
  const key = record.requestedBy;
  const paid = budget === undefined || key === null ? null : { budget, key, calls: budget.callsPerTurn };
  // Invariant: FAIR-BACKFILLS
  const waitMs = (await paid?.budget.take(paid.key, paid.calls)) ?? 0;
  if (paid !== null && waitMs > 0) {
    await awaitCalls(database, subject, paid.key, waitMs);
    return 'waits';
  }
  const calls: TurnCalls = { max: paid?.calls ?? Number.POSITIVE_INFINITY, made: 0 };
  try {
    return await work(record, calls);
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof WorkSetAsideError) {
      logger.warn({ ...fields, err: error }, 'History refused');
      await setAsideHistory(database, subject, error);
      return 'refused';
    }
    if (error instanceof FilesLackBlocksError) {
      logger.warn({ ...fields, err: error }, 'History refused');
      await refuseWithoutFiles(database, subject, error);
      return 'refused';
    }
    logger[failureLevel(error)]({ ...fields, err: error }, 'History failed');
    await failHistory(database, subject, error);
    return 'failed';
  } finally {
    paid?.budget.settle(paid.key, calls.made - paid.calls);
  }
}

export async function awaitMore(
  { chain, database, logger }: HistoryPlace,
  subject: Subject,
  reason: string,
): Promise<HistoryOutcome> {
  logger.debug({ chain: chain.key, kind: subject.kind, subject: subject.address, reason }, 'History waits');
  await postponeHistory(database, subject, WAIT_MS);
  return 'waits';
}

/** `expected`: remaining calls; null: the limit is used up. */
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
