export type Demand = { readonly group: string; readonly wanted: number };

/** A unit each, equal shares by group up to the demand, then equal shares of the rest. */
export function splitLimit(units: number, demands: readonly Demand[]): number[] {
  const shares = demands.map(() => 0);
  const hungry = demands.filter(({ wanted }) => wanted > 0);
  const wanting = Map.groupBy(hungry, ({ group }) => group);
  const weights = demands.map(({ group }) => wanting.get(group)?.length ?? 1);
  let left = units;

  function give(most: (demand: Demand) => number): void {
    for (; left > 0; left -= 1) {
      let [least, poorest] = [Number.POSITIVE_INFINITY, -1];
      for (const [index, demand] of demands.entries()) {
        const share = shares[index] ?? 0;
        const weighed = share === 0 ? 0 : (share + 1) * (weights[index] ?? 1);
        if (share < most(demand) && weighed < least) [least, poorest] = [weighed, index];
      }
      if (poorest < 0) return;
      shares[poorest] = (shares[poorest] ?? 0) + 1;
    }
  }

  give(({ wanted }) => (units < demands.length ? Math.min(1, wanted) : 1));
  give(({ wanted }) => wanted);
  give(() => units);
  return shares;
}
