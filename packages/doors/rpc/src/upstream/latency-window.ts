interface LatencyWindow {
  add(milliseconds: number): void;
  /** `share` from 0 to 1; 0 if empty. */
  percentile(share: number): number;
  readonly count: number;
}

export function createLatencyWindow(size = 128): LatencyWindow {
  const values: number[] = [];
  let next = 0;
  let sorted: number[] = [];
  let addedSince = 0;
  return {
    add(milliseconds) {
      values[next] = milliseconds;
      next = (next + 1) % size;
      addedSince++;
    },
    percentile(share) {
      if (values.length === 0) return 0;
      // A full window is sorted after an eighth changed: hedging reads it at every call.
      if (addedSince > 0 && (values.length < size || addedSince >= size / 8)) {
        sorted = values.toSorted((a, b) => a - b);
        addedSince = 0;
      }
      return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
    },
    get count() {
      return values.length;
    },
  };
}

export function createMethodLatencies() {
  const all = createLatencyWindow();
  const byMethod = new Map<string | null, LatencyWindow>();
  return {
    add(method: string, milliseconds: number): void {
      all.add(milliseconds);
      const window = byMethod.get(method) ?? createLatencyWindow();
      byMethod.set(method, window);
      window.add(milliseconds);
    },
    /** All methods if none is known or null. */
    percentile: (method: string | null, share: number): number => (byMethod.get(method) ?? all).percentile(share),
  };
}
