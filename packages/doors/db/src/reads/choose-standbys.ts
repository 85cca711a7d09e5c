import type { WalPosition } from './wal-position.ts';

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

export interface ChosenStandbys<Standby> {
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
