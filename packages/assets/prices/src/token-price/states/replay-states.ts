import type { ReportedState } from './liquidity-in-range.ts';
import type { StateSince } from './side-depths.ts';

type BlockTime = Pick<StateSince, 'block' | 'since'>;

export interface ReplayedPool<Change> {
  apply(change: Change): void;
  at(state: StateSince['state']): Pick<StateSince, 'state' | 'balances'>;
}

/** At the end of blocks. The first state has all changes until the window's start. */
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
  const later = changes
    .filter(({ block }) => block > start)
    .map((change) => ({ time: change as BlockTime, change }));
  const moves = rest.map((move) => ({ time: move as BlockTime, move }));
  for (const event of [...moves, ...later].toSorted((a, b) => a.time.block - b.time.block)) {
    if ('move' in event) state = event.move.state;
    else pool.apply(event.change);
    put(event.time);
  }
  return found;
}
