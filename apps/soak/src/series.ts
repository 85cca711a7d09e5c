/** Measured values in the order of time: their quantiles, their trend, and their parts. Pure. */

const TIPS = 8;

/** The value below which a share (0 to 1) of the samples lies; NaN without samples. */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function mean(samples: readonly number[]): number {
  return samples.reduce((sum, value) => sum + value, 0) / samples.length;
}

/** By what a straight line through the samples (least squares) rises from one to the next; 0 for fewer than two. */
export function slope(samples: readonly number[]): number {
  if (samples.length < 2) return 0;
  const middle = (samples.length - 1) / 2;
  const average = mean(samples);
  let together = 0;
  let spread = 0;
  samples.forEach((value, index) => {
    together += (index - middle) * (value - average);
    spread += (index - middle) ** 2;
  });
  return together / spread;
}

/** By what share of their mean the samples rise from the first to the last, along that line. */
export function relativeRise(samples: readonly number[]): number {
  const average = mean(samples);
  return average === 0 || samples.length < 2 ? 0 : (slope(samples) * (samples.length - 1)) / average;
}

/** One of five parts of equal length, from 0. Of fewer than five samples each part has the one nearest to it. */
export function fifth<T>(samples: readonly T[], part: 0 | 1 | 2 | 3 | 4): readonly T[] {
  const from = Math.floor((samples.length * part) / 5);
  return samples.slice(from, Math.max(from + 1, Math.floor((samples.length * (part + 1)) / 5)));
}

/** The highest of each of eight parts of equal length, in their order. Of fewer than eight samples, all of them. */
export function tips(samples: readonly number[]): readonly number[] {
  const length = Math.max(1, samples.length / TIPS);
  const parts = Array.from({ length: Math.min(TIPS, samples.length) }, (_, part) =>
    samples.slice(Math.floor(part * length), Math.floor((part + 1) * length)),
  );
  return parts.map((part) => Math.max(...part));
}

/** What comes after the first third, in which caches fill. */
export function lastTwoThirds<T>(samples: readonly T[]): readonly T[] {
  return samples.slice(Math.floor(samples.length / 3));
}
