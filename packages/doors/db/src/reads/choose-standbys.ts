import type { WalPosition } from './wal-position.ts';

export interface KnownStandby {
  /** Replayed at least; null: it does not respond or is no standby. */
  readonly replayed: WalPosition | null;
  readonly lagMs: number;
}

export interface ReadDemand {
  /** Position returned before: the WAL must be replayed at least to here. */
  readonly floor: WalPosition;
  /** A standby with more lag is not read from. */
  readonly lagMaxMs: number;
  /** Wait for a standby. */
  readonly waitMaxMs: number;
  /** Increases with each read, so that standbys take turns. */
  readonly turn: number;
}

export interface ChosenStandbys<Standby> {
  /** Have replayed enough, in the order to try. */
  readonly reached: readonly Standby[];
  /** May have replayed enough by now or within the wait, nearest first. */
  readonly near: readonly Standby[];
}

/** If both lists are empty, the read must use the primary. */
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
