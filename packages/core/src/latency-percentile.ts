/**
 * How long a share of the answers took at most, from how many there were between bounds: exact to the width of the part that it falls into.
 * @param bounds upper bounds of all parts but the last, ascending
 * @param counts one more than bounds: at the last place what took longer than all of them
 * @param share 0.5 for half of them
 * @returns in the unit of the bounds; of what took longer than all of them the last bound; null where there are none
 */
export function latencyPercentile(bounds: readonly number[], counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * share;
  for (const [place, count] of counts.entries()) {
    const to = bounds[place];
    if (to === undefined) break;
    const from = bounds[place - 1] ?? 0;
    if (count > 0 && left <= count) return from + ((to - from) * left) / count;
    left -= count;
  }
  return bounds.at(-1) ?? null;
}
