/** Like congestion control CUBIC. Pure. Epoch milliseconds, calls per second. */
export interface LearnedRate {
  readonly ceiling: number;
  readonly refusedAt: number;
  readonly returnMs: number;
}

const REDUCTION = 0.15;
const AGAIN_FACTOR = 0.85;
/** A first estimate rests on one second, so it is corrected soon. */
const FIRST_RETURN_MS = 15_000;
/** Other processes' bursts lower the rate too: after two minutes, it would still be half of the limit. */
const RETURN_MS = 30_000;
const RATE_MIN = 0.5;
/** Kept without calls near the head: processes learn apart, and the head comes first. */
const YIELDING_PART = 0.5;
/** Multiple of the ceiling. With RETURN_MS, after 4 minutes. */
const FORGOTTEN_FACTOR = 50;
/** Times the accepted calls at most: unused growth is no knowledge. */
const UNUSED_FACTOR = 1.25;

export function rateAt({ ceiling, refusedAt, returnMs }: LearnedRate, now: number): number | null {
  const distance = Math.max(0, now - refusedAt) / returnMs - 1;
  const factor = 1 + REDUCTION * distance ** 3;
  return factor > FORGOTTEN_FACTOR ? null : Math.max(RATE_MIN, ceiling * factor);
}

/** @param former null: none @param accepted most per second @param yields others may need more */
export function refusedRate(
  former: LearnedRate | null,
  {
    accepted,
    now,
    yields = false,
  }: { readonly accepted: number; readonly now: number; readonly yields?: boolean },
): LearnedRate {
  const ceilingOf = (rate: number): number => Math.max(RATE_MIN, yields ? rate * YIELDING_PART : rate);
  const rate = former === null ? null : rateAt(former, now);
  if (former === null || rate === null)
    return { ceiling: ceilingOf(accepted), refusedAt: now, returnMs: FIRST_RETURN_MS };
  const isAgain = now - former.refusedAt < former.returnMs / 4;
  const ceiling = ceilingOf(isAgain ? rate * AGAIN_FACTOR : Math.min(rate, accepted * UNUSED_FACTOR));
  return { ceiling, refusedAt: now, returnMs: RETURN_MS };
}
