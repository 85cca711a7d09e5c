/** The sources of one chain, in order of preference. A source that failed is left alone for a growing time. */
import {
  type BlockRange,
  type Clock,
  counter,
  defineMetrics,
  errorText,
  gauge,
  intersectRanges,
  type Logger,
  type Registry,
} from '@chainstead/core';
import type { BlockSource } from './block-source.ts';
import { SourceError } from './source-error.ts';

/** Proven blocks, or logs that a filter selects. */
export type SourceUse = 'blocks' | 'logs';

export interface HistorySources {
  /** The newest or oldest blocks of the range that a source may serve now; null: none. */
  reach(use: SourceUse, range: BlockRange, order: 'newest-first' | 'oldest-first'): BlockRange | null;
  /** The first source that may be read now and has the first block of the range; null: none. */
  choose(use: SourceUse, range: BlockRange, signal: AbortSignal): Promise<ChosenSource | null>;
  statuses(): readonly SourceStatus[];
  close(): Promise<void>;
}

export interface ChosenSource {
  readonly source: BlockSource;
  /** The part of the requested range that the source has, from its first block. */
  readonly range: BlockRange;
  /** Blocks were read and hold. */
  succeeded(blocks: BlockRange): void;
  /** Leaves the source alone: longer with each failure. */
  failed(error: unknown, at: BlockRange): void;
}

export interface SourceStatus {
  readonly name: string;
  readonly available: readonly BlockRange[];
  readonly uses: Readonly<Record<SourceUse, UseStatus>>;
}

export interface UseStatus {
  /** Blocks read since the start of the process. */
  readonly blocks: number;
  readonly failures: number;
  /** The last failure; null: none since blocks were read. */
  readonly reason: string | null;
  /** Epoch milliseconds; null: it may be read now. */
  readonly until: number | null;
}

export interface HistorySourcesOptions {
  readonly chain: { readonly key: string };
  readonly sources: readonly BlockSource[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** @default no metrics */
  readonly metrics?: Registry;
}

export const createSourceMetrics = defineMetrics('chainstead_source', {
  blocks: counter('Number of old blocks read from a source of history, by use (blocks, logs)', [
    'chain',
    'source',
    'use',
  ]),
  failures: counter('Number of failures after which a source of history was left alone, by use', [
    'chain',
    'source',
    'use',
  ]),
  leftAlone: gauge('1 while a source of history is left alone after a failure, otherwise 0, by use', [
    'chain',
    'source',
    'use',
  ]),
});

const AVAILABLE_FOR_MS = 30_000;
const LEFT_ALONE_MS = { first: 5_000, firstOfWrong: 60_000, max: 3_600_000 } as const;

export function createHistorySources(options: HistorySourcesOptions): HistorySources {
  const { chain, sources, clock, logger } = options;
  const metrics = options.metrics === undefined ? null : createSourceMetrics(options.metrics);
  const closing = new AbortController();
  const states = sources.map((source) => ({
    source,
    available: [] as readonly BlockRange[],
    readAt: Number.NEGATIVE_INFINITY,
    uses: { blocks: createUse(clock), logs: createUse(clock) },
  }));
  type State = (typeof states)[number];
  const labelsOf = ({ source }: Pick<State, 'source'>, use: SourceUse) => ({
    chain: chain.key,
    source: source.name,
    use,
  });
  for (const state of states)
    for (const use of ['blocks', 'logs'] as const)
      metrics?.leftAlone.addSource(
        labelsOf(state, use),
        () => (state.uses[use].mayBeRead() ? 0 : 1),
        closing.signal,
      );

  const failed = ({ source, uses }: State, use: SourceUse, error: unknown, at: BlockRange): void => {
    const reason = errorText(error);
    const until = uses[use].fail(error, reason);
    metrics?.failures.inc(labelsOf({ source }, use));
    const place = { chain: chain.key, source: source.name, block_range: `${at.from}-${at.to}` };
    logger.warn(
      { ...place, reason, left_alone_ms: until - clock.now() },
      'A source of history failed: its blocks are read from the next source, or from nodes',
    );
  };

  const refresh = async (state: State, use: SourceUse, range: BlockRange, signal: AbortSignal): Promise<void> => {
    if (clock.now() - state.readAt < AVAILABLE_FOR_MS) return;
    try {
      state.available = await state.source.available(signal);
      state.readAt = clock.now();
    } catch (error) {
      signal.throwIfAborted();
      state.available = [];
      failed(state, use, error, range);
    }
  };

  return {
    reach(use, range, order) {
      for (const { available, readAt, uses } of states) {
        if (!uses[use].mayBeRead()) continue;
        // Not read yet: `choose` finds out.
        if (readAt === Number.NEGATIVE_INFINITY) return range;
        const part = intersectRanges(available, [range]).at(order === 'newest-first' ? -1 : 0);
        if (part !== undefined) return part;
      }
      return null;
    },
    async choose(use, range, signal) {
      for (const state of states) {
        if (!state.uses[use].mayBeRead()) continue;
        await refresh(state, use, range, signal);
        const [part] = intersectRanges(state.available, [range]);
        if (part === undefined || part.from > range.from || !state.uses[use].mayBeRead()) continue;
        return {
          source: state.source,
          range: part,
          succeeded({ from, to }) {
            state.uses[use].succeed(to - from + 1);
            metrics?.blocks.inc(labelsOf(state, use), to - from + 1);
          },
          failed: (error, at) => failed(state, use, error, at),
        };
      }
      return null;
    },
    statuses: () =>
      states.map(({ source, available, uses }) => ({
        name: source.name,
        available,
        uses: { blocks: uses.blocks.status(), logs: uses.logs.status() },
      })),
    async close() {
      closing.abort();
      await Promise.all(sources.map((source) => source.close()));
    },
  };
}

function createUse(clock: Clock) {
  let blocks = 0;
  let failures = 0;
  let reason: string | null = null;
  let until = 0;
  const mayBeRead = (): boolean => clock.now() >= until;
  return {
    mayBeRead,
    succeed(count: number): void {
      blocks += count;
      if (!mayBeRead()) return;
      failures = 0;
      reason = null;
    },
    /** @returns when it may be read again, in epoch milliseconds */
    fail(error: unknown, text: string): number {
      const { first, firstOfWrong, max } = LEFT_ALONE_MS;
      const base = isWrong(error) ? firstOfWrong : first;
      const requested = error instanceof SourceError ? Number(error.facts.retry_after_ms ?? 0) : 0;
      until = clock.now() + Math.min(max, Math.max(requested, base * 2 ** Math.min(failures, 20)));
      failures += 1;
      reason = text;
      return until;
    },
    status: (): UseStatus => ({ blocks, failures, reason, until: mayBeRead() ? null : until }),
  };
}

function isWrong(error: unknown): boolean {
  return !(error instanceof SourceError) || error.facts.fault === 'wrong' || error.facts.fault === 'refused';
}
