/** Exact to a bucket; null without values. @param bounds upper, ascending, without the last */
export function latencyPercentile(
  bounds: readonly number[],
  counts: readonly number[],
  share: number,
): number | null {
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
