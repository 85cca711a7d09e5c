/**
 * How fast the background prover reads: as fast as the upstreams allow without being refused, and with room left for the
 * follower. Each block has its turn; what happened in a stretch of blocks decides on the next one.
 */
import type { Clock } from '@chainstead/core';

export interface ProverPaceOptions {
  readonly clock: Clock;
  /** Blocks a second at most; auto: what the upstreams allow. */
  readonly limit: number | 'auto';
}

/** What a stretch has shown. */
export interface StretchSigns {
  /** An upstream refused calls because there were too many, whoever made them. */
  readonly refused: boolean;
  /** The follower does not keep up, or answers come much later than they did. */
  readonly crowded: boolean;
  /** Something else needs the upstreams more: the history that is still missing. */
  readonly yields: boolean;
}

export interface ProverPace {
  /** Blocks a second now. */
  readonly rate: number;
  /** Blocks that make a stretch of a few seconds. */
  readonly stretchBlocks: number;
  /** Begins a stretch. */
  begin(): void;
  /** Waits for the turn of the next block. */
  turn(signal: AbortSignal): Promise<void>;
  /** Ends a stretch. */
  end(signs: StretchSigns): void;
}

const START_RATE = 10;
const RATE_MIN = 0.5;
/** While history is read. */
const GENTLE_RATE = 5;
const GROWTH = 1.5;
const AFTER_REFUSAL = 0.6;
const AFTER_CROWD = 0.7;
/** Of what the upstreams managed: the rest is for the follower. */
const SHARE = 0.8;
/** Of the rate that was refused, what is tried again before the refusal is forgotten. */
const BELOW_REFUSAL = 0.85;
const REFUSAL_REMEMBERED_MS = 300_000;
/** Turns that came so much later than planned show that the upstreams give no more. */
const LATE = 1.25;
const STRETCH_SECONDS = 4;
const STRETCH_MIN = 8;
const STRETCH_MAX = 64;
const MS_PER_SECOND = 1_000;

export function createProverPace({ clock, limit }: ProverPaceOptions): ProverPace {
  const max = limit === 'auto' ? Number.POSITIVE_INFINITY : limit;
  let rate = limit === 'auto' ? START_RATE : limit;
  let refused: { readonly rate: number; readonly at: number } | null = null;
  let startedAt = clock.now();
  let lastTurnAt = startedAt;
  let turns = 0;
  let slot = startedAt;

  /** Blocks a second that came about in this stretch; null where it was too short to tell. */
  function managed(): number | null {
    const planned = ((turns - 1) / rate) * MS_PER_SECOND;
    const took = lastTurnAt - startedAt;
    return turns < STRETCH_MIN || took <= planned * LATE ? null : ((turns - 1) / took) * MS_PER_SECOND;
  }

  /** Below what was refused, and near it again as that becomes long ago. */
  function bound(): number {
    if (refused === null) return max;
    const share = (clock.now() - refused.at) / REFUSAL_REMEMBERED_MS;
    if (share > 1) refused = null;
    return refused === null ? max : refused.rate * (BELOW_REFUSAL + (1 - BELOW_REFUSAL) * share);
  }

  function next(signs: StretchSigns): number {
    const reached = managed();
    if (signs.refused) {
      const tooMuch = Math.min(rate, reached ?? rate);
      // While history is read or a follower catches up, it is they who ask for too much.
      if (!signs.yields && !signs.crowded) refused = { rate: tooMuch, at: clock.now() };
      return tooMuch * AFTER_REFUSAL;
    }
    if (signs.crowded) return rate * AFTER_CROWD;
    if (limit === 'auto' && signs.yields) return GENTLE_RATE;
    if (reached !== null) return limit === 'auto' ? reached * SHARE : rate;
    return Math.min(rate * GROWTH, bound());
  }

  return {
    get rate() {
      return rate;
    },
    get stretchBlocks() {
      return Math.round(Math.min(STRETCH_MAX, Math.max(STRETCH_MIN, rate * STRETCH_SECONDS)));
    },
    begin() {
      startedAt = Math.max(clock.now(), slot);
      lastTurnAt = startedAt;
      slot = startedAt;
      turns = 0;
    },
    async turn(signal) {
      const mine = slot;
      slot += MS_PER_SECOND / rate;
      const wait = mine - clock.now();
      if (wait > 0) await clock.sleep(wait, signal);
      turns += 1;
      lastTurnAt = clock.now();
    },
    end(signs) {
      rate = Math.min(max, Math.max(RATE_MIN, next(signs)));
    },
  };
}
