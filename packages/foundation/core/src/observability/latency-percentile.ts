/**
 * Exact to the width of a bucket; the last bound for values above all bounds; null without values.
 * @param bounds upper bounds of all buckets except the last, ascending @param share 0.5 for the median
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
