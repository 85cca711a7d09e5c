import type { WalPosition } from './wal-position.ts';

/** State of a standby at the time of a read. */
export interface KnownStandby {
  /** WAL position that it has replayed at least; null: it does not respond or is no standby. */
  readonly replayed: WalPosition | null;
  readonly lagMs: number;
}

export interface ReadDemand {
  /** Position returned before: the WAL must be replayed at least to here. */
  readonly floor: WalPosition;
  /** Milliseconds. A standby with more lag is not read from. */
  readonly lagMaxMs: number;
  /** Maximum wait for a standby in milliseconds. */
  readonly waitMaxMs: number;
  /** Increases with each read, so that standbys take turns. */
  readonly turn: number;
}

export interface ChosenStandbys<Standby> {
  /** Standbys that have replayed enough, in the order to try. */
  readonly reached: readonly Standby[];
  /** Standbys that may have replayed enough by now or within the wait, nearest first. */
  readonly near: readonly Standby[];
}

/** Returns the standbys that a read may use. If both lists are empty, it must use the primary. */
export function chooseStandbys<Standby extends KnownStandby>(
  standbys: readonly Standby[],
  { floor, lagMaxMs, waitMaxMs, turn }: ReadDemand,
): ChosenStandbys<Standby> {
  const reached: Standby[] = [];
  const near: (Standby & { readonly replayed: WalPosition })[] = [];
  for (const standby of standbys) {
    if (!hasReplayed(standby) || standby.lagMs > lagMaxMs) continue;
    if (standby.replayed >= floor) reached.push(standby);
    else if (standby.lagMs <= waitMaxMs) near.push(standby);
  }
  const first = reached.length === 0 ? 0 : turn % reached.length;
  return {
    reached: [...reached.slice(first), ...reached.slice(0, first)],
    near: near.sort((one, other) => Number(other.replayed - one.replayed)),
  };
}

function hasReplayed<Standby extends KnownStandby>(
  standby: Standby,
): standby is Standby & { readonly replayed: WalPosition } {
  return standby.replayed !== null;
}
