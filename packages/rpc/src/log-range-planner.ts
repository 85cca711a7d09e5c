import { type BlockRange, rangeSize } from '@chainstead/core';

/** How wide one upstream's getLogs calls may be. Pure bookkeeping: no I/O, no clock. */
export interface LogRangePlanner {
  /** Blocks to ask from `range.from` on, at least 1. `key` names the query whose density is meant. */
  span(range: BlockRange, key: string): number;
  /** The upstream answered this range with so many logs and bytes. */
  answered(range: BlockRange, key: string, size: { readonly logs: number; readonly bytes: number }): void;
  /** The upstream allows so many blocks (undefined: fewer than in this range). Remembered for good. */
  tooManyBlocks(range: BlockRange, limit: number | undefined): void;
  /** Too many results, bytes or seconds in this range: smaller for this stretch only. */
  tooDense(
    range: BlockRange,
    key: string,
    hint?: { readonly suggestedBlocks?: number; readonly limitResults?: number },
  ): void;
  /** The structural cap learnt, in blocks; null while none is. */
  readonly cap: number | null;
}

/** Density is remembered for stretches of this many blocks: what is dense at the head may be empty below. */
const STRETCH = 1 << 16;
const STRETCHES_MAX = 512;
/** Share of a known result cap that a planned call may fill. */
const FILL = 0.7;
/** Answers in a row at a guessed cap before a wider call is tried. */
const PATIENCE = 8;
/** Growth after an answer that used the whole span; faster where it was nearly empty. */
const GROWTH = 2;
const GROWTH_EMPTY = 4;

/**
 * @param options.logRangeStart blocks asked first, while nothing is known of the density
 * @param options.logRangeMax blocks asked at most, whatever the upstream allows
 * @param options.targetBytes size of an answer that ranges are fitted to
 */
export function createLogRangePlanner(options: {
  readonly logRangeStart: number;
  readonly logRangeMax: number;
  readonly targetBytes: number;
}): LogRangePlanner {
  let cap: number | null = null;
  /** Smallest size that was refused without saying what is allowed; null where the cap was told. */
  let refused: number | null = null;
  let streak = 0;
  let resultCap: number | null = null;
  /** Span by stretch and query, and under the bare query the newest one, with which unknown stretches begin. */
  const spans = new Map<string, number>();

  function stretch(range: BlockRange, key: string): string {
    return `${Math.floor(range.from / STRETCH)}|${key}`;
  }

  function dense(range: BlockRange, key: string): number {
    return spans.get(stretch(range, key)) ?? spans.get(key) ?? options.logRangeStart;
  }

  function remember(range: BlockRange, key: string, blocks: number): void {
    const span = Math.max(1, Math.min(options.logRangeMax, Math.floor(blocks)));
    for (const at of [stretch(range, key), key]) {
      spans.delete(at);
      spans.set(at, span);
    }
    for (const oldest of spans.keys()) {
      if (spans.size <= STRETCHES_MAX) break;
      spans.delete(oldest);
    }
  }

  /** A guessed cap is tested from time to time, half-way up to what was refused. */
  function testGuess(size: number): void {
    if (cap === null || refused === null || size !== cap || refused - cap <= Math.max(1, cap * 0.05)) return;
    streak++;
    if (streak < PATIENCE) return;
    cap = Math.floor((cap + refused) / 2);
    streak = 0;
  }

  return {
    span(range, key) {
      return Math.max(1, Math.min(rangeSize(range), cap ?? options.logRangeMax, dense(range, key)));
    },

    answered(range, key, { logs, bytes }) {
      const size = rangeSize(range);
      testGuess(size);
      const byBytes = bytes > 0 ? (size * options.targetBytes) / bytes : Number.POSITIVE_INFINITY;
      const byResults = resultCap !== null && logs > 0 ? (size * resultCap * FILL) / logs : Number.POSITIVE_INFINITY;
      const fit = Math.min(byBytes, byResults);
      const current = dense(range, key);
      const isWhole = size >= Math.min(current, cap ?? current);
      if (fit < size) remember(range, key, fit);
      else if (isWhole) {
        const growth = fit > size * 4 * GROWTH_EMPTY ? GROWTH_EMPTY : GROWTH;
        remember(range, key, Math.max(current, Math.min(size * growth, fit)));
      }
    },

    tooManyBlocks(range, limit) {
      const size = rangeSize(range);
      streak = 0;
      if (limit !== undefined && limit < size) {
        cap = cap === null || refused !== null ? limit : Math.min(cap, limit);
        refused = null;
        return;
      }
      // Nothing usable was told: between half and this size lies the cap.
      refused = refused === null ? size : Math.min(refused, size);
      cap = Math.max(1, Math.min(cap ?? Number.POSITIVE_INFINITY, Math.floor(size / 2)));
    },

    tooDense(range, key, hint = {}) {
      const size = rangeSize(range);
      if (hint.limitResults !== undefined)
        resultCap = resultCap === null ? hint.limitResults : Math.min(resultCap, hint.limitResults);
      const suggested = hint.suggestedBlocks;
      const isUsable = suggested !== undefined && suggested >= 1 && suggested < size;
      remember(range, key, isUsable ? suggested : size / 2);
    },

    get cap() {
      return cap;
    },
  };
}

/** Cuts where a range may not cross (a fork that changed the chain's rules): each part lies on one side. */
export function splitAtBarriers(range: BlockRange, barriers: readonly number[]): BlockRange[] {
  const parts: BlockRange[] = [];
  let from = range.from;
  for (const barrier of barriers.toSorted((a, b) => a - b)) {
    if (barrier <= from || barrier > range.to) continue;
    parts.push({ from, to: barrier - 1 });
    from = barrier;
  }
  if (from <= range.to) parts.push({ from, to: range.to });
  return parts;
}
