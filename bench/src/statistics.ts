/** The middle value; the mean of the two middle ones where their number is even. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The value below which a share (0 to 1) of the samples lies. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Smallest and largest. */
export function spread(samples: readonly number[]): readonly [smallest: number, largest: number] {
  return [Math.min(...samples), Math.max(...samples)];
}

/** The ratio of two sides that were measured in turn: of their medians, and the smallest and largest of neighbouring runs. */
export function ratioOf(
  ours: readonly number[],
  peer: readonly number[],
): { readonly ratio: number; readonly spread: readonly [smallest: number, largest: number] } {
  const pairs = ours.map((value, index) => value / (peer[index] ?? Number.NaN));
  return { ratio: median(ours) / median(peer), spread: spread(pairs) };
}
