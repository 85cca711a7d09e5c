const FIRST_DELAY_MS = 500;
const DELAY_MS_MAX = 30_000;
/** A process that ran this long was healthy: its next crash counts as the first one again. */
export const WELL_AFTER_MS = 60_000;

/** After this many consecutive crashes (from 1): 500, 1000, 2000, … 30000 milliseconds. */
export function restartDelayMs(crashesInARow: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** Math.max(0, crashesInARow - 1), DELAY_MS_MAX);
}
