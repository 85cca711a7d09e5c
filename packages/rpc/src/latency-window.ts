/** The last latencies of something, for percentiles. */
export interface LatencyWindow {
  add(milliseconds: number): void;
  /** The value that this share (0 to 1) of the window does not exceed; 0 while it is empty. */
  percentile(share: number): number;
  readonly count: number;
}

/** Keeps the newest `size` values. */
export function createLatencyWindow(size = 128): LatencyWindow {
  const values: number[] = [];
  let next = 0;
  return {
    add(milliseconds) {
      values[next] = milliseconds;
      next = (next + 1) % size;
    },
    percentile(share) {
      if (values.length === 0) return 0;
      const sorted = values.toSorted((a, b) => a - b);
      return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
    },
    get count() {
      return values.length;
    },
  };
}
