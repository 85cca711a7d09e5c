import type { WantedTimes } from './read-token-spans.ts';

export const WINDOWS = { '5m': 300, '1h': 3_600, '6h': 21_600, '24h': 86_400 } as const;

/** Seconds. The newest block belongs to each window. */
export function windowsUntil(newest: number, lengths: readonly number[]): WantedTimes {
  return {
    spans: lengths.map((seconds) => ({ from: newest - seconds + 1, to: newest + 1 })),
    moments: lengths.map((seconds) => newest - seconds),
  };
}

export const TIMEFRAMES = ['1d', '7d', '30d'] as const;
type SeriesTimeframe = (typeof TIMEFRAMES)[number];

const STEPS: Readonly<Record<SeriesTimeframe, { readonly count: number; readonly seconds: number }>> = {
  '1d': { count: 24, seconds: 3_600 },
  '7d': { count: 28, seconds: 21_600 },
  '30d': { count: 30, seconds: 86_400 },
};

/** Unix seconds. Oldest first, aligned to UTC. The last step contains the newest block. */
export function stepsUntil(newest: number, timeframe: SeriesTimeframe): WantedTimes {
  const { count, seconds } = STEPS[timeframe];
  const last = Math.floor(newest / seconds) * seconds;
  const spans = Array.from({ length: count }, (_, at) => {
    const from = last - (count - 1 - at) * seconds;
    return { from, to: from + seconds };
  });
  // Block times are whole seconds, and the end of a span is exclusive.
  return { spans, moments: spans.map(({ to }) => to - 1) };
}
