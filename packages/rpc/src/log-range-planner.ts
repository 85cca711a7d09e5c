import { type BlockRange, rangeSize } from '@chainstead/core';

/** Queries whose logs lie about as densely. */
export interface LogsKind {
  readonly key: string;
  /** Blocks asked first, while nothing is known of the density. */
  readonly start: number;
}

/** How wide one upstream's getLogs calls may be. Pure bookkeeping: no I/O, no clock. */
export interface LogRangePlanner {
  /** Blocks to ask from `range.from` on, at least 1. */
  span(range: BlockRange, kind: LogsKind): number;
  /** The upstream answered this range with so many logs and bytes. */
  answered(range: BlockRange, kind: LogsKind, size: { readonly logs: number; readonly bytes: number }): void;
  /** The upstream allows so many blocks (undefined: fewer than in this range). Remembered for good. */
  tooManyBlocks(range: BlockRange, limit: number | undefined): void;
  /** Too many results, bytes or seconds in this range: smaller for this stretch only. */
  tooDense(
    range: BlockRange,
    kind: LogsKind,
    hint?: { readonly suggestedBlocks?: number; readonly limitResults?: number },
  ): void;
  /** About how many calls the range would take if few logs matched: spans grow as after nearly empty answers. A fraction. */
  calls(range: BlockRange, kind: LogsKind): number;
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
 * @param options.logRangeMax blocks asked at most, whatever the upstream allows
 * @param options.targetBytes size of an answer that ranges are fitted to
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what was asked and what was refused form one estimate.
export function createLogRangePlanner(options: {
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

  function stretch(block: number, { key }: LogsKind): string {
    return `${Math.floor(block / STRETCH)}|${key}`;
  }

  function dense(range: BlockRange, kind: LogsKind): number {
    return spans.get(stretch(range.from, kind)) ?? spans.get(kind.key) ?? kind.start;
  }

  function remember(range: BlockRange, kind: LogsKind, blocks: number): void {
    const span = Math.max(1, Math.min(options.logRangeMax, Math.floor(blocks)));
    for (const at of [stretch(range.from, kind), kind.key]) {
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
    span(range, kind) {
      return Math.max(1, Math.min(rangeSize(range), cap ?? options.logRangeMax, dense(range, kind)));
    },

    answered(range, kind, { logs, bytes }) {
      const size = rangeSize(range);
      testGuess(size);
      const byBytes = bytes > 0 ? (size * options.targetBytes) / bytes : Number.POSITIVE_INFINITY;
      const byResults = resultCap !== null && logs > 0 ? (size * resultCap * FILL) / logs : Number.POSITIVE_INFINITY;
      const fit = Math.min(byBytes, byResults);
      const current = dense(range, kind);
      const isWhole = size >= Math.min(current, cap ?? current);
      if (fit < size) remember(range, kind, fit);
      else if (isWhole) {
        const growth = fit > size * 4 * GROWTH_EMPTY ? GROWTH_EMPTY : GROWTH;
        remember(range, kind, Math.max(current, Math.min(size * growth, fit)));
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

    tooDense(range, kind, hint = {}) {
      const size = rangeSize(range);
      if (hint.limitResults !== undefined)
        resultCap = resultCap === null ? hint.limitResults : Math.min(resultCap, hint.limitResults);
      const suggested = hint.suggestedBlocks;
      const isUsable = suggested !== undefined && suggested >= 1 && suggested < size;
      remember(range, kind, isUsable ? suggested : size / 2);
    },

    calls(range, kind) {
      const widest = cap ?? options.logRangeMax;
      let grown = Math.min(widest, spans.get(kind.key) ?? kind.start);
      let calls = 0;
      for (let from = range.from; from <= range.to; ) {
        const end = Math.min(range.to, (Math.floor(from / STRETCH) + 1) * STRETCH - 1);
        const known = spans.get(stretch(from, kind));
        let left = end - from + 1;
        if (known !== undefined) grown = Math.min(widest, known);
        for (; left > 0 && grown < widest; grown = Math.min(widest, grown * GROWTH_EMPTY)) {
          calls += Math.min(1, left / grown);
          left -= grown;
        }
        calls += Math.max(0, left) / widest;
        from = end + 1;
      }
      return calls;
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
