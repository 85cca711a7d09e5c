import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange, Clock, Hash, Logger } from '@chainstead/core';
import { type Database, failureLevel, UNWRITTEN, type WorkJournal, WorkSetAsideError } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { FilesLackBlocksError, type HistorySources } from '@chainstead/sources';
import type { RetentionSettings } from '../coverage/retained-from.ts';
import type { Subject } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { KnownContracts } from '../rows/known-contracts.ts';
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

export interface HistoryOptions {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  /** Through which `pool` reads: the first plan then knows their blocks. @default none */
  readonly sources?: Pick<HistorySources, 'refresh'> | undefined;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  readonly knownContracts: KnownContracts;
  readonly clock: Clock;
  readonly logger: Logger;
  /** @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  readonly maxCalls: number;
  /** @default unlimited */
  readonly budget?: CallBudget | undefined;
  /** After this time the backfill yields to others, at the next chunk. */
  readonly sliceMs: number;
  /** Responses for several blocks. @default CHUNK_BYTES_MAX */
  readonly chunkBytesMax?: number;
  /** @default not recorded */
  readonly journal?: Pick<WorkJournal, 'run'>;
  /** Found by wallet searches. @default none are known */
  readonly sentTransactions?: SentTransactions;
}

export interface HistoryTurn extends HistoryOptions {
  readonly subject: Subject;
  readonly madeBefore: number;
  /** Since the first turn. */
  made: number;
  readonly calls: TurnCalls;
  /** Milliseconds since the epoch. */
  readonly ends: number;
}

/** Null: the turn continues. */
export async function endOfTurn(turn: HistoryTurn): Promise<HistoryOutcome | null> {
  const { database, subject, clock, made, madeBefore, maxCalls, ends, calls } = turn;
  calls.made = made - madeBefore;
  if (made >= maxCalls) return refuseForCalls(turn, subject, { made, expected: null });
  if (clock.now() < ends && calls.made < calls.max) return null;
  await postponeHistory(database, subject, 0);
  return 'more';
}

/** Per chunk: suspects run alone and wait for each other. */
export function runRisky<T>(
  { chain, subject, journal = UNWRITTEN }: HistoryTurn,
  work: () => Promise<T>,
): Promise<T> {
  return journal.run({ kind: 'history', keys: [`${chain.id} ${subject.kind} ${subject.address}`] }, work);
}

/** `waits`: blocks are not final yet, or the calls of the key are used up; `refused`: too many calls, quarantine, no archive node, or no era file. */
export type HistoryOutcome = 'done' | 'more' | 'waits' | 'refused' | 'failed' | 'idle';

interface HistoryPlace {
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

/** Node calls that backfills may make for an API key (`ON_DEMAND_CALLS_PER_KEY`). */
export interface CallBudget {
  /** Taken before a turn, so that turns of several processes don't add up. */
  readonly callsPerTurn: number;
  /** @returns ms until the key may take as many; 0: they are counted */
  take(key: string, calls: number): Promise<number>;
  /** Difference between the calls that a turn made and those it took. */
  settle(key: string, calls: number): void;
}

/** Calls of one turn. */
export interface TurnCalls {
  /** The turn ends above it. */
  readonly max: number;
  made: number;
}

export interface SentTransaction {
  readonly block: number;
  readonly hash: Hash;
}

/** No log filter finds them: wallet searches do, by the nonces of old blocks. */
export interface SentTransactions {
  /** With all transactions that the account sent. Ascending, disjoint. */
  knownBlocks(database: Database, chain: Chain, account: Address): Promise<readonly BlockRange[]>;
  /** In known blocks, newest first: `limit`, and those of the same block as the last. */
  list(
    database: Database,
    chain: Chain,
    wanted: { readonly account: Address; readonly range: BlockRange; readonly limit: number },
  ): Promise<readonly SentTransaction[]>;
  /** Null while the search works or waits; otherwise why it finds nothing more. */
  search(database: Database, chain: Chain, account: Address, maxCalls: number): Promise<string | null>;
}
