const WINDOW_MS = 60_000;

/** @returns missing blocks per second over the last minute; null if none are filled */
export type FillingPace = (missing: readonly number[], now: number) => number | null;

/** Counts by coverage: blocks of all processes. A block counts once, although several datasets lack it. */
export function createFillingPace(): FillingPace {
  let seen: { readonly at: number; readonly lacking: number }[] = [];
  return (missing, now) => {
    const lacking = missing.reduce((sum, blocks) => sum + blocks, 0);
    const last = seen.at(-1);
    // A new dataset or an earlier start: another count begins.
    if (last !== undefined && lacking > last.lacking) seen = [];
    seen = [...seen.filter(({ at }) => now - at <= WINDOW_MS), { at: now, lacking }];
    const first = seen[0];
    if (first === undefined || lacking === 0 || first.lacking === lacking) return null;
    const datasets = lacking / Math.max(...missing);
    return ((first.lacking - lacking) * 1_000) / datasets / (now - first.at);
  };
}
