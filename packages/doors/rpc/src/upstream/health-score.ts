export interface Health {
  /** Recent share of bad responses, 0 to 1. */
  readonly badness: number;
  /** Small calls; null: none yet. */
  readonly latencyMs: number | null;
  readonly at: number;
}

export const UNKNOWN_HEALTH: Health = { badness: 0, latencyMs: null, at: 0 };

/** Without traffic, so that an avoided upstream is tried again. */
const HALF_LIFE_MS = 30_000;
const WEIGHT = 0.1;
const LATENCY_WEIGHT = 0.2;
const SLOW_MS = 1_000;
const FAR_BEHIND_MS = 30_000;

/** `latencyMs` null: not meaningful (large ranges). */
export function goodAnswer(health: Health, now: number, latencyMs: number | null): Health {
  const former = health.latencyMs ?? latencyMs;
  const latency = latencyMs === null || former === null ? former : former + (latencyMs - former) * LATENCY_WEIGHT;
  return { badness: badnessAt(health, now) * (1 - WEIGHT), latencyMs: latency, at: now };
}

/** `weight`: 1 for a failure, more for an invalid response. */
export function badAnswer(health: Health, now: number, weight = 1): Health {
  const share = Math.min(0.9, WEIGHT * weight);
  return { ...health, badness: badnessAt(health, now) * (1 - share) + share, at: now };
}

export function healthScore(health: Health, now: number, lagMs: number): number {
  const errors = (1 - badnessAt(health, now)) ** 2;
  const speed = SLOW_MS / (SLOW_MS + (health.latencyMs ?? 0));
  const freshness = FAR_BEHIND_MS / (FAR_BEHIND_MS + Math.max(0, lagMs));
  return errors * speed * freshness;
}

function badnessAt(health: Health, now: number): number {
  const age = Math.max(0, now - health.at);
  return health.badness * 0.5 ** (age / HALF_LIFE_MS);
}
