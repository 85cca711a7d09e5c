/** The demand of one process. */
export interface Demand {
  /** If the limit is too small, groups get equal shares, however many processes each has. */
  readonly group: string;
  /** Units that the process could use. */
  readonly wanted: number;
}

/**
 * Divides a limit: one unit for each process, then equal shares by group up to the demand, then equal shares of the
 * rest. If there are more processes than units, those without demand get none, and earlier ones go first.
 * @param units a whole number.
 * @returns whole units by process, whose sum is the limit
 */
export function splitLimit(units: number, demands: readonly Demand[]): number[] {
  const shares = demands.map(() => 0);
  const wanting = Map.groupBy(
    demands.filter(({ wanted }) => wanted > 0),
    ({ group }) => group,
  );
  const weights = demands.map(({ group }) => wanting.get(group)?.length ?? 1);
  let left = units;

  /** Assigns units one at a time to the process that has the least, as long as it may have more. */
  function give(most: (demand: Demand) => number): void {
    for (; left > 0; left -= 1) {
      let [least, place] = [Number.POSITIVE_INFINITY, -1];
      for (const [index, demand] of demands.entries()) {
        const share = shares[index] ?? 0;
        const weighed = share === 0 ? 0 : (share + 1) * (weights[index] ?? 1);
        if (share < most(demand) && weighed < least) [least, place] = [weighed, index];
      }
      if (place < 0) return;
      shares[place] = (shares[place] ?? 0) + 1;
    }
  }

  give(({ wanted }) => (units < demands.length ? Math.min(1, wanted) : 1));
  give(({ wanted }) => wanted);
  give(() => units);
  return shares;
}
