/** Inclusive, in milliseconds; one more bucket follows the last. */
export const CALL_TIME_BOUNDS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000,
];

export function noTimes(): number[] {
  return new Array<number>(CALL_TIME_BOUNDS.length + 1).fill(0);
}

export function countTime(times: number[], ms: number): void {
  const index = CALL_TIME_BOUNDS.findIndex((bound) => ms <= bound);
  const bucket = index === -1 ? CALL_TIME_BOUNDS.length : index;
  times[bucket] = (times[bucket] ?? 0) + 1;
}

export function addTimes(to: number[], from: readonly number[]): void {
  for (const [index, calls] of from.entries()) to[index] = (to[index] ?? 0) + calls;
}
