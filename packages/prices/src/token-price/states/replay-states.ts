import type { ReportedState } from './liquidity-in-range.ts';
import type { StateSince } from './side-depths.ts';

type BlockTime = Pick<StateSince, 'block' | 'since'>;

/** What the events of a pool between its swaps change: its positions, or its bins. */
export interface ReplayedPool<Change> {
  apply(change: Change): void;
  /** Returns a reported state with the balances at this point. */
  at(state: StateSince['state']): Pick<StateSince, 'state' | 'balances'>;
}

/**
 * Returns the state at the end of each block with a state or a change. The first one has the changes until the start of the window.
 * @param states oldest first
 * @param changes oldest first
 */
export function replayStates<Change extends BlockTime>(
  [first, ...rest]: readonly ReportedState[],
  changes: readonly Change[],
  windowStart: number,
  pool: ReplayedPool<Change>,
): readonly StateSince[] {
  if (first === undefined) return [];
  let { state } = first;
  const found: StateSince[] = [];
  const put = ({ block, since }: BlockTime): void => {
    if (found.at(-1)?.block === block) found.pop();
    found.push({ block, since, ...pool.at(state) });
  };
  const start = Math.max(windowStart, first.block);
  for (const change of changes) if (change.block <= start) pool.apply(change);
  put(first);
  const moves = rest.map((one) => ({
    place: one,
    apply(): void {
      state = one.state;
    },
  }));
  const later = changes
    .filter(({ block }) => block > start)
    .map((change) => ({ place: change, apply: () => pool.apply(change) }));
  for (const { place, apply } of [...moves, ...later].toSorted((one, other) => one.place.block - other.place.block)) {
    apply();
    put(place);
  }
  return found;
}
