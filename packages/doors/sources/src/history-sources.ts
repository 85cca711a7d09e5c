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
import type { BlockSource, RefusedFile } from './block-source.ts';
import { SourceError } from './source-error.ts';

/** Proven blocks, or logs that a filter selects. */
export type SourceUse = 'blocks' | 'logs';

export interface HistorySources {
  /** The newest or oldest blocks of the range that a source may serve now; null: none. */
  reach(use: SourceUse, range: BlockRange, order: 'newest-first' | 'oldest-first'): BlockRange | null;
  /** The first source that may be read now and has the first block of the range; null: none. */
  choose(use: SourceUse, range: BlockRange, signal: AbortSignal): Promise<ChosenSource | null>;
  /** Finds out which blocks the sources have, so that `reach` and estimates are right at once. */
  refresh(use: SourceUse, range: BlockRange, signal: AbortSignal): Promise<void>;
  /**
   * Leaves a source alone whose stored logs differed from proven blocks: longer each time, as its streams looked right.
   * @returns false if no source has the name
   */
  blame(name: string, what: string, at: BlockRange): boolean;
  statuses(): readonly SourceStatus[];
  close(): Promise<void>;
}

export interface ChosenSource {
  readonly source: BlockSource;
  /** The part of the requested range that the source has, from its first block. */
  readonly range: BlockRange;
  /** Blocks were read and hold. */
  succeeded(blocks: BlockRange): void;
  /** The stream ended without a failure. */
  completed(): void;
  /** Leaves the source alone: longer with each failure. */
  failed(error: unknown, at: BlockRange): void;
}

export interface SourceStatus {
  readonly name: string;
  readonly available: readonly BlockRange[];
  readonly uses: Readonly<Record<SourceUse, UseStatus>>;
  /** Its first files that are left out; absent: it has no files. */
  readonly refusals?: readonly RefusedFile[];
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
/** Files are looked at again so often while their source is left alone. */
const REVISION_FOR_MS = 5_000;
const REFUSALS_MAX = 20;
const LEFT_ALONE_MS = { first: 5_000, firstOfWrong: 60_000, max: 3_600_000 } as const;

export function createHistorySources(options: HistorySourcesOptions): HistorySources {
  const closing = new AbortController();
  const tracked = options.sources.map((source) => trackSource(source, options, closing.signal));
  return {
    reach(use, range, order) {
      const isNewestFirst = order === 'newest-first';
      const parts: BlockRange[] = [];
      for (const source of tracked) {
        if (!source.mayBeRead(use)) continue;
        const available = source.available();
        // Not known yet: `choose` finds out.
        if (available === null) return range;
        parts.push(...intersectRanges(available, [range]).slice(...(isNewestFirst ? [-1] : [0, 1])));
      }
      // A stable sort: equal parts keep the order of preference.
      const [first = null] = parts.toSorted((a, b) => (isNewestFirst ? b.to - a.to : a.from - b.from));
      return first;
    },
    async choose(use, range, signal) {
      for (const source of tracked) {
        await source.refresh(use, range, signal);
        if (!source.mayBeRead(use)) continue;
        const [part] = intersectRanges(source.available() ?? [], [range]);
        if (part !== undefined && part.from === range.from) return source.choose(use, part);
      }
      return null;
    },
    async refresh(use, range, signal) {
      for (const source of tracked) await source.refresh(use, range, signal);
    },
    blame(name, what, at) {
      const source = tracked.find((one) => one.name === name);
      source?.blame(what, at);
      return source !== undefined;
    },
    statuses: () => tracked.map((source) => source.status()),
    async close() {
      closing.abort();
      await Promise.all(options.sources.map((source) => source.close()));
    },
  };
}

function trackSource(
  source: BlockSource,
  { chain, clock, logger, metrics: registry }: HistorySourcesOptions,
  closing: AbortSignal,
) {
  const metrics = registry === undefined ? null : createSourceMetrics(registry);
  const uses = { blocks: createUse(clock), logs: createUse(clock) };
  let available: readonly BlockRange[] | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let revision = source.revision?.();
  const isNews = createNews();
  const labelsOf = (use: SourceUse) => ({ chain: chain.key, source: source.name, use });
  for (const use of ['blocks', 'logs'] as const)
    metrics?.leftAlone.addSource(labelsOf(use), () => (uses[use].mayBeRead() ? 0 : 1), closing);

  const failed = (use: SourceUse, error: unknown, at: BlockRange): void => {
    const place = { chain: chain.key, source: source.name, block_range: `${at.from}-${at.to}` };
    if (!(error instanceof SourceError)) {
      uses[use].pause(errorText(error));
      logger.warn(
        { ...place, reason: errorText(error) },
        'Nodes could not confirm blocks of a source of history: they are read again later',
      );
      return;
    }
    // The source has logged the file.
    if (error.facts.file !== null) {
      readAt = Number.NEGATIVE_INFINITY;
      return;
    }
    const reason = errorText(error);
    const leftAloneMs = uses[use].fail(error, reason);
    metrics?.failures.inc(labelsOf(use));
    logger[isNews(error, reason) ? 'warn' : 'debug'](
      { ...place, reason, left_alone_ms: leftAloneMs },
      'A source of history failed: its blocks are read from the next source, or from nodes',
    );
  };

  return {
    name: source.name,
    /** Null: not known yet. */
    available: () => available,
    mayBeRead: (use: SourceUse): boolean => uses[use].mayBeRead(),
    async refresh(use: SourceUse, range: BlockRange, signal: AbortSignal): Promise<void> {
      const isPaused = !uses[use].mayBeRead();
      if (isPaused && source.revision === undefined) return;
      if (clock.now() - readAt < (isPaused ? REVISION_FOR_MS : AVAILABLE_FOR_MS)) return;
      try {
        available = await source.available(signal);
        readAt = clock.now();
        if (source.revision?.() === revision) return;
        revision = source.revision?.();
        for (const one of Object.values(uses)) one.resume();
      } catch (error) {
        signal.throwIfAborted();
        if (isPaused) return;
        // Blocks that it had stay planned for it.
        available ??= [];
        failed(use, error, range);
      }
    },
    choose: (use: SourceUse, range: BlockRange): ChosenSource => ({
      source,
      range,
      succeeded({ from, to }) {
        uses[use].succeed(to - from + 1);
        metrics?.blocks.inc(labelsOf(use), to - from + 1);
      },
      completed: uses[use].complete,
      failed: (error, at) => failed(use, error, at),
    }),
    blame(what: string, at: BlockRange): void {
      if (!uses.logs.mayBeRead()) return;
      uses.logs.keepNext();
      failed('logs', new SourceError({ source: source.name, fault: 'wrong', what }), at);
    },
    status: (): SourceStatus => ({
      name: source.name,
      available: available ?? [],
      uses: { blocks: uses.blocks.status(), logs: uses.logs.status() },
      ...(source.refusals !== undefined && { refusals: source.refusals().slice(0, REFUSALS_MAX) }),
    }),
  };
}

/** A field that is missing on the chain is named once, not for each range. */
function createNews() {
  const lacks = new Set<string>();
  return (error: SourceError, reason: string): boolean => {
    if (error.facts.fault !== 'lacking') return true;
    const kind = reason.replaceAll(/0x[0-9a-f]+|\d+/g, '#');
    if (lacks.has(kind)) return false;
    lacks.add(kind);
    return true;
  };
}

function createUse(clock: Clock) {
  let blocks = 0;
  let failures = 0;
  let kept = 0;
  let reason: string | null = null;
  let until = 0;
  const mayBeRead = (): boolean => clock.now() >= until;
  return {
    mayBeRead,
    succeed(count: number): void {
      blocks += count;
    },
    /** A lie in each stream must lead to longer pauses. */
    complete(): void {
      if (!mayBeRead()) return;
      failures = kept;
      reason = null;
    },
    /** Streams that end well don't take the next failure back. */
    keepNext(): void {
      kept += 1;
    },
    /** Its files are others now. */
    resume(): void {
      until = 0;
    },
    /** For a failure that is not the source's. */
    pause(text: string): void {
      if (!mayBeRead()) return;
      until = clock.now() + LEFT_ALONE_MS.first;
      reason = text;
    },
    /** @returns the time until it may be read again, in milliseconds */
    fail(error: SourceError, text: string): number {
      const { first, firstOfWrong, max } = LEFT_ALONE_MS;
      const base = isWrong(error) ? firstOfWrong : first;
      const requested = Number(error.facts.retry_after_ms ?? 0);
      // Streams that fail together count once.
      const now = clock.now();
      if (now < until) return until - now;
      const pauseMs = Math.min(max, Math.max(requested, base * 2 ** Math.min(failures, 20)));
      until = now + pauseMs;
      failures += 1;
      reason = text;
      return pauseMs;
    },
    status: (): UseStatus => ({ blocks, failures, reason, until: mayBeRead() ? null : until }),
  };
}

function isWrong({ facts: { fault } }: SourceError): boolean {
  return fault === 'wrong' || fault === 'refused' || fault === 'slow' || fault === 'too-large';
}
