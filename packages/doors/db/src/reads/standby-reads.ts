import { type Logger, settlesWithin, systemClock } from '@chainstead/core';
import { DatabaseError as PostgresError } from 'pg';
import type { End } from '../connections/connection-metrics.ts';
import { DatabaseError } from '../database-error.ts';
import { isOutage, outageOr } from '../database-outage.ts';
import type { Standby, StandbyRead } from './standby.ts';
import type { ReadMetrics, ReadOutcome, WalPosition } from './wal-position.ts';

interface Requested {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Every commit up to here must be included. */
  readonly floor: WalPosition;
  readonly end: End | undefined;
}

interface StandbyReadsOptions {
  readonly standbys: readonly Standby[];
  /** Milliseconds. */
  readonly lagOf: (standby: Standby) => number;
  readonly lagMaxMs: number;
  readonly logger: Logger;
  readonly metrics: Pick<ReadMetrics, 'reads'>;
}

/** Null: query the primary. */
export type ReadOnStandbys = <Row extends object>(requested: Requested) => Promise<StandbyRead<Row> | null>;

/** After these waits, the primary is faster. */
const WAITS_MS = [0, 5, 15, 30];
const WAIT_MAX_MS = WAITS_MS.reduce((sum, wait) => sum + wait, 0);

export function createStandbyReads(options: StandbyReadsOptions): ReadOnStandbys {
  const { standbys, lagOf, lagMaxMs } = options;
  const tryOn = createAttempts(options);
  let turn = 0;
  return async <Row extends object>(requested: Requested) => {
    const { floor } = requested;
    const states = standbys.map((standby) => ({ standby, replayed: standby.replayed, lagMs: lagOf(standby) }));
    const { reached, near } = chooseStandbys(states, { floor, lagMaxMs, waitMaxMs: WAIT_MAX_MS, turn: turn++ });
    for (const { standby } of reached) {
      const read = await tryOn<Row>(standby, requested);
      if (read !== null) return read;
    }
    const nearby = near.map(({ standby }) => standby);
    const late = await firstToReach(nearby, floor);
    return late === undefined ? null : tryOn<Row>(late, requested);
  };
}

async function firstToReach(near: readonly Standby[], floor: WalPosition): Promise<Standby | undefined> {
  if (near.length === 0) return undefined;
  for (const waitMs of WAITS_MS) {
    if (waitMs > 0) await systemClock.sleep(waitMs);
    if (!(await settlesWithin(Promise.race(near.map((standby) => standby.look())), WAIT_MAX_MS)))
      return undefined;
    const reached = near.find(({ replayed }) => replayed !== null && replayed >= floor);
    if (reached !== undefined) return reached;
  }
  return undefined;
}

function createAttempts({ logger, metrics }: StandbyReadsOptions) {
  const reported = new Set<string>();
  const count = (host: string, outcome: ReadOutcome): void => metrics.reads.inc({ host, outcome });

  function reportOf(host: string, outcome: ReadOutcome, error: PostgresError): void {
    const kind = `${host} ${error.code}`;
    if (outcome === 'away' || reported.has(kind)) return;
    reported.add(kind);
    const remedy =
      outcome === 'conflict'
        ? 'Set hot_standby_feedback = on on the standby, or raise its max_standby_streaming_delay'
        : 'Compare the schema and settings of the standby with those of the primary';
    logger.warn({ host, error: error.message, remedy }, 'A read failed on a standby and was done elsewhere');
  }

  return async <Row extends object>(standby: Standby, requested: Requested): Promise<StandbyRead<Row> | null> => {
    const { text, values, floor, end } = requested;
    try {
      const read = await standby.read<Row>(text, values, end);
      // The known position was from before a restart, or from another server of that name.
      const isBehind = read.from < floor;
      count(standby.host, isBehind ? 'behind' : 'answered');
      return isBehind ? null : read;
    } catch (error) {
      const outcome = outcomeOf(error);
      if (end?.signal.aborted === true || outcome === null) throw error;
      count(standby.host, outcome);
      if (outcome === 'away') standby.doubt();
      if (error instanceof PostgresError) reportOf(standby.host, outcome, error);
      return null;
    }
  };
}

const RECOVERY_CONFLICT = '40001';
const READ_ONLY = '25006';
/** The statement took too long, and would elsewhere too. */
const QUERY_CANCELED = '57014';

/** Null: not the server's fault. */
function outcomeOf(error: unknown): ReadOutcome | null {
  if (error instanceof DatabaseError && error.code === 'DATABASE_NO_STANDBY') return 'away';
  const code = error instanceof PostgresError ? error.code : undefined;
  if (code === QUERY_CANCELED) return null;
  if (code === RECOVERY_CONFLICT) return 'conflict';
  if (code !== READ_ONLY && isOutage(outageOr(error))) return 'away';
  return code === undefined ? null : 'failed';
}

export interface KnownStandby {
  /** Null: silent, or no standby. */
  readonly replayed: WalPosition | null;
  readonly lagMs: number;
}

export interface ReadDemand {
  readonly floor: WalPosition;
  /** A standby with more lag is not read from. */
  readonly lagMaxMs: number;
  readonly waitMaxMs: number;
  /** Increases per read: standbys take turns. */
  readonly turn: number;
}

interface ChosenStandbys<Standby> {
  readonly reached: readonly Standby[];
  /** May have replayed it by now or soon, nearest first. */
  readonly near: readonly Standby[];
}

/** Both empty: use the primary. */
export function chooseStandbys<Standby extends KnownStandby>(
  standbys: readonly Standby[],
  { floor, lagMaxMs, waitMaxMs, turn }: ReadDemand,
): ChosenStandbys<Standby> {
  const reached: Standby[] = [];
  const near: Standby[] = [];
  for (const standby of standbys) {
    if (standby.replayed === null || standby.lagMs > lagMaxMs) continue;
    if (standby.replayed >= floor) reached.push(standby);
    else if (standby.lagMs <= waitMaxMs) near.push(standby);
  }
  const first = reached.length === 0 ? 0 : turn % reached.length;
  return {
    reached: [...reached.slice(first), ...reached.slice(0, first)],
    near: near.sort((a, b) => Number((b.replayed ?? 0n) - (a.replayed ?? 0n))),
  };
}
