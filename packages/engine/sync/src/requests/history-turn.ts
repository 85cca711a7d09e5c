import type { Chain } from '@chainstead/chains';
import type { Clock, Logger } from '@chainstead/core';
import { type Database, UNWRITTEN, type WorkJournal } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import type { HistorySources } from '@chainstead/sources';
import type { RetentionSettings } from '../coverage/retention-settings.ts';
import type { Subject } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import type { KnownContracts } from '../rows/known-contracts.ts';
import type { CallBudget, TurnCalls } from './call-budget.ts';
import { type HistoryOutcome, refuseForCalls } from './claim-history.ts';
import { postponeHistory } from './history-record.ts';
import type { SentTransactions } from './sent-transactions.ts';

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
