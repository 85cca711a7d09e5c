import { type Logger, settlesWithin, systemClock } from '@chainstead/core';
import { DatabaseError as PostgresError } from 'pg';
import { DatabaseError } from '../database-error.ts';
import { isOutage, outageOr } from '../database-outage.ts';
import { chooseStandbys } from './choose-standbys.ts';
import type { ReadMetrics, ReadOutcome } from './read-metrics.ts';
import type { StandbyRead } from './read-on-standby.ts';
import type { Standby } from './standby.ts';
import type { WalPosition } from './wal-position.ts';

/** A statement that is to be read. */
export interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Its rows have to show at least what was committed up to here. */
  readonly floor: WalPosition;
  /** After which nobody waits for the rows. */
  readonly signal: AbortSignal | undefined;
}

export interface StandbyReadsOptions {
  readonly standbys: readonly Standby[];
  /** Milliseconds. */
  readonly lagOf: (standby: Standby) => number;
  readonly lagMaxMs: number;
  readonly logger: Logger;
  readonly metrics: Pick<ReadMetrics, 'reads'>;
}

/** Asks a standby that shows enough, another one where that fails. @returns null where the primary has to be asked */
export type ReadOnStandbys = <Row extends object>(asked: Asked) => Promise<StandbyRead<Row> | null>;

/** How long a read waits for a standby that is about to have replayed enough: beyond that the primary is quicker. Milliseconds, one after the other. */
const WAITS_MS = [0, 5, 15, 30];
const WAIT_MAX_MS = WAITS_MS.reduce((sum, wait) => sum + wait, 0);

/** Reads are left to standbys as long as one of them is fit for it. */
export function createStandbyReads(options: StandbyReadsOptions): ReadOnStandbys {
  const { standbys, lagOf, lagMaxMs } = options;
  const tryOn = createAttempts(options);
  let turn = 0;
  return async <Row extends object>(asked: Asked) => {
    const { floor } = asked;
    const known = standbys.map((standby) => ({ standby, replayed: standby.replayed, lagMs: lagOf(standby) }));
    const { reached, near } = chooseStandbys(known, { floor, lagMaxMs, waitMaxMs: WAIT_MAX_MS, turn: turn++ });
    for (const { standby } of reached) {
      const read = await tryOn<Row>(standby, asked);
      if (read !== null) return read;
    }
    const late = await firstToReach(
      near.map(({ standby }) => standby),
      floor,
    );
    return late === undefined ? null : tryOn<Row>(late, asked);
  };
}

async function firstToReach(near: readonly Standby[], floor: WalPosition): Promise<Standby | undefined> {
  if (near.length === 0) return undefined;
  for (const waitMs of WAITS_MS) {
    if (waitMs > 0) await systemClock.sleep(waitMs);
    if (!(await settlesWithin(Promise.race(near.map((standby) => standby.look())), WAIT_MAX_MS))) return undefined;
    const reached = near.find(({ replayed }) => replayed !== null && replayed >= floor);
    if (reached !== undefined) return reached;
  }
  return undefined;
}

/** One attempt on one standby: null where another server has to be asked. */
function createAttempts({ logger, metrics }: StandbyReadsOptions) {
  const told = new Set<string>();
  const count = (host: string, outcome: ReadOutcome): void => metrics.reads.inc({ host, outcome });

  /** Once for each kind of trouble: the metrics count them. */
  function tellOf(host: string, outcome: ReadOutcome, error: PostgresError): void {
    const kind = `${host} ${error.code}`;
    if (outcome === 'away' || told.has(kind)) return;
    told.add(kind);
    const remedy =
      outcome === 'conflict'
        ? 'Set hot_standby_feedback = on there, or raise its max_standby_streaming_delay'
        : 'Compare its schema and its settings with those of the primary';
    logger.warn({ host, error: error.message, remedy }, 'A read failed on a standby and was done elsewhere');
  }

  return async <Row extends object>(standby: Standby, asked: Asked): Promise<StandbyRead<Row> | null> => {
    const { text, values, floor, signal } = asked;
    try {
      const read = await standby.read<Row>(text, values, signal === undefined ? undefined : { signal, how: 'cancel' });
      // What was known of the server was of before its restart, or of another one behind its name.
      const isBehind = read.from < floor;
      count(standby.host, isBehind ? 'behind' : 'answered');
      return isBehind ? null : read;
    } catch (error) {
      const outcome = outcomeOf(error);
      if (signal?.aborted === true || outcome === null) throw error;
      count(standby.host, outcome);
      if (outcome === 'away') standby.doubt();
      if (error instanceof PostgresError) tellOf(standby.host, outcome, error);
      return null;
    }
  };
}

/** What the server says where a statement was in the way of what it had to replay. */
const RECOVERY_CONFLICT = '40001';
const READ_ONLY = '25006';
/** It took too long, and would elsewhere. */
const QUERY_CANCELED = '57014';

/** @returns null for what is no matter of the server */
function outcomeOf(error: unknown): ReadOutcome | null {
  if (error instanceof DatabaseError && error.code === 'DATABASE_NO_STANDBY') return 'away';
  const code = error instanceof PostgresError ? error.code : undefined;
  if (code === QUERY_CANCELED) return null;
  if (code === RECOVERY_CONFLICT) return 'conflict';
  if (code !== READ_ONLY && isOutage(outageOr(error))) return 'away';
  return code === undefined ? null : 'failed';
}
