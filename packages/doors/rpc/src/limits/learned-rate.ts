/**
 * The rate that an upstream allows, learned from its refusals alone, as in the congestion control CUBIC.
 * It falls below the refused rate, returns to it, stays there and then grows faster and faster.
 * A pure function of time. Times in epoch milliseconds, rates in calls per second.
 */
export interface LearnedRate {
  readonly ceiling: number;
  readonly refusedAt: number;
  readonly returnMs: number;
}

/** Part of the ceiling that a refusal takes away. */
const REDUCTION = 0.15;
/** Another refusal soon after the last one: the rate is still far too high. */
const AGAIN_FACTOR = 0.7;
/** A first estimate rests on one second only, so it is corrected soon. */
const FIRST_RETURN_MS = 60_000;
const RETURN_MS = 120_000;
const RATE_MIN = 0.5;
/** Part of the rate that a process without calls near the head keeps: processes learn apart, and the head comes first. */
const YIELDING_PART = 0.5;
/** A rate that has grown to this multiple of its ceiling is forgotten. With RETURN_MS, after 16 minutes. */
const FORGOTTEN_FACTOR = 50;
/** A rate may exceed the calls that were accepted by this factor, so that unused growth is no knowledge. */
const UNUSED_FACTOR = 1.25;

export function rateAt({ ceiling, refusedAt, returnMs }: LearnedRate, now: number): number | null {
  const distance = Math.max(0, now - refusedAt) / returnMs - 1;
  const factor = 1 + REDUCTION * distance ** 3;
  return factor > FORGOTTEN_FACTOR ? null : Math.max(RATE_MIN, ceiling * factor);
}

/**
 * @param former null: none was learned, or it is forgotten
 * @param accepted the most calls that the upstream has recently accepted in a second
 * @param yields whether another process may need the calls more
 */
export function refusedRate(
  former: LearnedRate | null,
  { accepted, now, yields = false }: { readonly accepted: number; readonly now: number; readonly yields?: boolean },
): LearnedRate {
  const ceilingOf = (rate: number): number => Math.max(RATE_MIN, yields ? rate * YIELDING_PART : rate);
  const rate = former === null ? null : rateAt(former, now);
  if (former === null || rate === null)
    return { ceiling: ceilingOf(accepted), refusedAt: now, returnMs: FIRST_RETURN_MS };
  const isAgain = now - former.refusedAt < former.returnMs / 4;
  const ceiling = ceilingOf(isAgain ? rate * AGAIN_FACTOR : Math.min(rate, accepted * UNUSED_FACTOR));
  return { ceiling, refusedAt: now, returnMs: RETURN_MS };
}
