/**
 * Exact to the width of a bucket.
 * @param bounds upper bounds of all buckets except the last, ascending
 * @param counts one more than bounds; the last counts values above all bounds
 * @param share 0.5 for the median
 * @returns in the unit of the bounds; the last bound for values above all bounds; null without values
 */
export function latencyPercentile(bounds: readonly number[], counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = total * share;
  for (const [index, count] of counts.entries()) {
    const to = bounds[index];
    if (to === undefined) break;
    const from = bounds[index - 1] ?? 0;
    if (count > 0 && left <= count) return from + ((to - from) * left) / count;
    left -= count;
  }
  return bounds.at(-1) ?? null;
}
