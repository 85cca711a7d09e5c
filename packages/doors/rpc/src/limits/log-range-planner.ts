import { type BlockRange, rangeSize } from '@chainstead/core';

export interface LogsKind {
  readonly key: string;
  readonly start: number;
}

export interface LogRangePlanner {
  span(range: BlockRange, kind: LogsKind): number;
  answered(range: BlockRange, kind: LogsKind, size: { readonly logs: number; readonly bytes: number }): void;
  /** Permanent. `limit` undefined: less than this range. */
  tooManyBlocks(range: BlockRange, limit: number | undefined): void;
  /** Only this span shrinks. */
  tooDense(
    range: BlockRange,
    kind: LogsKind,
    hint?: { suggestedBlocks?: number | undefined; limitResults?: number | undefined },
  ): void;
  /** Expected calls if few logs match; a fraction. */
  calls(range: BlockRange, kind: LogsKind): number;
  readonly cap: number | null;
}

const SECTION = 1 << 16;
const SECTIONS_MAX = 512;
const FILL = 0.7;
/** Responses at a guessed cap before a wider call. */
const PATIENCE = 8;
const GROWTH = 2;
const GROWTH_EMPTY = 4;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: requested and refused ranges form one estimate.
export function createLogRangePlanner(options: { logRangeMax: number; targetBytes: number }): LogRangePlanner {
  let cap: number | null = null;
  /** Smallest refused size; null if the upstream stated its cap. */
  let refused: number | null = null;
  let streak = 0;
  let resultCap: number | null = null;
  /** By section and query. The bare query: newest, for unknown sections. */
  const spans = new Map<string, number>();

  const sectionKey = (block: number, { key }: LogsKind): string => `${Math.floor(block / SECTION)}|${key}`;
  const dense = ({ from }: BlockRange, kind: LogsKind): number =>
    spans.get(sectionKey(from, kind)) ?? spans.get(kind.key) ?? kind.start;

  function remember(range: BlockRange, kind: LogsKind, blocks: number): void {
    const span = Math.max(1, Math.min(options.logRangeMax, Math.floor(blocks)));
    for (const at of [sectionKey(range.from, kind), kind.key]) {
      spans.delete(at);
      spans.set(at, span);
    }
    for (const oldest of spans.keys()) {
      if (spans.size <= SECTIONS_MAX) break;
      spans.delete(oldest);
    }
  }

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
      const byResults =
        resultCap !== null && logs > 0 ? (size * resultCap * FILL) / logs : Number.POSITIVE_INFINITY;
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
      // No usable limit stated: between half of this size and it.
      refused = refused === null ? size : Math.min(refused, size);
      cap = Math.max(1, Math.min(cap ?? Number.POSITIVE_INFINITY, Math.floor(size / 2)));
    },

    tooDense(range, kind, hint = {}) {
      const size = rangeSize(range);
      if (hint.limitResults !== undefined)
        resultCap = resultCap === null ? hint.limitResults : Math.min(resultCap, hint.limitResults);
      const suggested = hint.suggestedBlocks ?? 0;
      remember(range, kind, suggested >= 1 && suggested < size ? suggested : size / 2);
    },

    calls(range, kind) {
      const widest = cap ?? options.logRangeMax;
      let grown = Math.min(widest, spans.get(kind.key) ?? kind.start);
      let calls = 0;
      for (let from = range.from; from <= range.to; ) {
        const end = Math.min(range.to, (Math.floor(from / SECTION) + 1) * SECTION - 1);
        const known = spans.get(sectionKey(from, kind));
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

/** Forks that changed the chain's rules; no part crosses one. */
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
