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

/**
 * @param options.logRangeMax blocks asked at most while no cap is known
 * @param options.targetBytes size of an answer that ranges are fitted to
 */
export function createLogRangePlanner(options: {
  readonly logRangeMax: number;
  readonly targetBytes: number;
}): LogRangePlanner {
  let cap: number | null = null;
  /** Smallest size that was refused without saying what is allowed; null where the cap was told. */
  let refused: number | null = null;
  let streak = 0;
  let resultCap: number | null = null;
  const density = new Map<string, number>();

  function stretchKey(range: BlockRange, key: string): string {
    return `${Math.floor(range.from / STRETCH)}|${key}`;
  }

  function remember(at: string, span: number): void {
    density.delete(at);
    density.set(at, Math.max(1, Math.floor(span)));
    if (density.size > STRETCHES_MAX)
      for (const oldest of density.keys()) {
        density.delete(oldest);
        break;
      }
  }

  function structural(): number {
    return Math.min(cap ?? options.logRangeMax, options.logRangeMax);
  }

  return {
    span(range, key) {
      const dense = density.get(stretchKey(range, key));
      return Math.max(1, Math.min(rangeSize(range), structural(), dense ?? Number.POSITIVE_INFINITY));
    },

    answered(range, key, { logs, bytes }) {
      const size = rangeSize(range);
      if (cap !== null && refused !== null && size === cap && refused - cap > Math.max(1, cap * 0.05)) {
        streak++;
        if (streak >= PATIENCE) {
          cap = Math.floor((cap + refused) / 2);
          streak = 0;
        }
      }
      const byBytes = bytes > 0 ? (size * options.targetBytes) / bytes : Number.POSITIVE_INFINITY;
      const byResults = resultCap !== null && logs > 0 ? (size * resultCap * FILL) / logs : Number.POSITIVE_INFINITY;
      const fit = Math.min(byBytes, byResults);
      const at = stretchKey(range, key);
      const dense = density.get(at);
      if (fit < size) remember(at, fit);
      else if (dense !== undefined && size >= dense) {
        const grown = Math.min(dense * 2, fit);
        if (grown >= structural()) density.delete(at);
        else remember(at, Math.max(grown, dense));
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
      const half = Math.max(1, Math.floor(size / 2));
      remember(
        stretchKey(range, key),
        suggested !== undefined && suggested >= 1 && suggested < size ? suggested : half,
      );
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

/** Cuts into pieces of `span` blocks, the last one shorter. */
export function splitBySpan(range: BlockRange, span: number): BlockRange[] {
  const parts: BlockRange[] = [];
  for (let from = range.from; from <= range.to; from += span)
    parts.push({ from, to: Math.min(range.to, from + span - 1) });
  return parts;
}
