const FIRST_DELAY_MS = 500;
const DELAY_MS_MAX = 30_000;
/** After a run this long, the next crash counts as the first one. */
export const WELL_AFTER_MS = 60_000;

/** From 1 crash: 500, 1000, 2000, … 30000. */
export function restartDelayMs(crashesInARow: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** Math.max(0, crashesInARow - 1), DELAY_MS_MAX);
}
