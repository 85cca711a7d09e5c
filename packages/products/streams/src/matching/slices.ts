import { setImmediate as nextTurn } from 'node:timers/promises';

/** Pauses after each slice of its work. */
export type Sliced<T> = Generator<void, T>;

/** About 20 ms. */
const UNITS_PER_SLICE = 200_000;

/** Other work of the process has a turn between two slices. */
export async function inSlices<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

export type Slices = ReturnType<typeof createSlices>;

export function createSlices() {
  let units = 0;
  return {
    /** @param more units of a `WorkBudget` @returns whether the slice is over */
    worked(more: number): boolean {
      units += more;
      const isOver = units >= UNITS_PER_SLICE;
      if (isOver) units = 0;
      return isOver;
    },
  };
}
