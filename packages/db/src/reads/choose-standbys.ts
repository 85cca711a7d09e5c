import type { WalPosition } from './wal-position.ts';

/** What is known of a standby when a read is due. */
export interface KnownStandby {
  /** It has replayed the log at least so far; null: it does not answer, or is none. */
  readonly replayed: WalPosition | null;
  readonly lagMs: number;
}

export interface ReadDemand {
  /** What has been shown before: the log has to be replayed at least so far. */
  readonly floor: WalPosition;
  /** A standby with more lag is not read from. Milliseconds. */
  readonly lagMaxMs: number;
  /** How long the read can wait for a standby. Milliseconds. */
  readonly waitMaxMs: number;
  /** Counts up, so that standbys take turns. */
  readonly turn: number;
}

export interface ChosenStandbys<Standby> {
  /** Have replayed enough; in the order in which they are to be tried. */
  readonly reached: readonly Standby[];
  /** May have by now, or within the wait; the one that is nearest to it first. */
  readonly near: readonly Standby[];
}

/** Where a read may go. What is in neither list must not be read from; where both are empty, the primary is left. */
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
