/** What reads from sources share: progress, failures, and units that can be committed. */
import { type BlockHeader, type BlockRange, ChainsteadError, rangeSize } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import {
  type BlockSource,
  type ChosenSource,
  SourceError,
  type SourceFault,
  type SourceUse,
} from '@chainstead/sources';

/** A source may send bytes without end, and no block that can be used. */
const PROGRESS_MS = 300_000;
/** A slow source must not lose the blocks that it sent before it stalled. */
const UNIT_MS_MAX = 30_000;

/**
 * Parts of the chosen range, from its first block on. A failure of the source ends them early: it is reported to
 * `given`, and the caller reads the rest elsewhere. If another file of the source has the blocks, it is read next.
 *
 * @param read parts that were checked, end to end; it may throw after the last good one
 * @throws the reason of `signal`
 */
export async function* readParts<Part extends { readonly range: BlockRange }>(
  given: ChosenSource,
  pace: PaceOptions,
  signal: AbortSignal,
  read: (rest: ChosenSource, stop: AbortSignal) => AsyncIterable<Part>,
): AsyncGenerator<Part> {
  const { slow, chosen, end } = watchPace(pace, given);
  const { source, range } = chosen;
  const progress = watchProgress(source);
  const stop = AbortSignal.any([signal, progress.stalled, slow]);
  let next = range.from;
  try {
    for (let isEnded = false; !isEnded; ) {
      const rest = { from: next, to: range.to };
      try {
        for await (const part of read({ ...chosen, range: rest }, stop)) {
          next = part.range.to + 1;
          chosen.succeeded(part.range);
          progress.pause();
          yield part;
          progress.made();
        }
        if (next === rest.from) throw faultOf(chosen, 'sent no block', 'unavailable');
        chosen.completed();
        isEnded = true;
      } catch (error) {
        signal.throwIfAborted();
        chosen.failed(stop.aborted ? stop.reason : error, { from: next, to: range.to });
        isEnded = stop.aborted || next > range.to || !isOfFile(error);
      }
    }
  } finally {
    progress.pause();
    end();
  }
}

/**
 * Lists of items that follow each other, each as soon as it is full or half a minute old, or its file ends. The last one
 * is what came before the end or the failure of the stream.
 *
 * @param createFullness called for each list; the returned function takes each item and returns whether the list is full
 */
export async function* unitsOf<Item extends { readonly file?: string }>(
  items: AsyncIterable<Item>,
  createFullness: () => (item: Item) => boolean,
): AsyncGenerator<readonly Item[]> {
  let unit: Item[] = [];
  let isFullWith = createFullness();
  let startedAt = performance.now();
  let failure: { readonly error: unknown } | null = null;
  const begin = (): void => {
    unit = [];
    isFullWith = createFullness();
    startedAt = performance.now();
  };
  try {
    for await (const item of items) {
      if (unit.length > 0 && unit[0]?.file !== item.file) {
        yield unit;
        begin();
      }
      unit.push(item);
      if (!isFullWith(item) && performance.now() - startedAt < UNIT_MS_MAX) continue;
      yield unit;
      begin();
    }
  } catch (error) {
    failure = { error };
  }
  if (unit.length > 0) yield unit;
  if (failure !== null) throw failure.error;
}

/** @param fault @default 'wrong' */
export function faultOf(
  { source }: Pick<ChosenSource, 'source'>,
  what: string,
  fault: SourceFault = 'wrong',
): SourceError {
  return new SourceError({ source: source.name, fault, what });
}

/** The error of a unit that does not hold: of its file alone, if another file has these blocks. */
export function ofFile(
  { source }: Pick<ChosenSource, 'source'>,
  error: unknown,
  [first]: readonly { readonly file?: string }[],
  blocks: BlockRange,
): unknown {
  const file = first?.file;
  if (file === undefined || !(error instanceof SourceError)) return error;
  const what = String(error.facts.what);
  const fault = error.facts.fault as SourceFault;
  const isLeftOut = source.refuse?.(file, blocks, what) === true;
  return new SourceError({
    ...{ source: source.name, fault, what: `${file}: ${what}` },
    file: isLeftOut ? file : null,
  });
}

export function isOfFile(error: unknown): boolean {
  return error instanceof SourceError && error.facts.file !== null;
}

/**
 * A node that contradicts the source may itself answer for another chain: a second one decides, and the first one is named.
 * @throws SourceError
 */
export async function requireAtNodes(
  pool: UpstreamPool,
  chosen: Pick<ChosenSource, 'source'>,
  named: Pick<BlockHeader, 'number' | 'hash'> & { readonly timestamp?: number },
  signal: AbortSignal,
): Promise<void> {
  const { number, hash, timestamp } = named;
  const isSame = (header: BlockHeader): boolean =>
    header.hash === hash && (timestamp === undefined || header.timestamp === timestamp);
  const [first] = await pool.getHeaders([number], { signal, background: true });
  if (first !== undefined && isSame(first.value)) return;
  const second = first === undefined ? undefined : await secondHeader(pool, number, first.upstream, signal);
  if (first !== undefined && second !== undefined && isSame(second)) {
    const { hash: wrong } = first.value;
    pool.reportFault(first.upstream, 'wrong-chain', { block: number, hash: wrong, expected: hash });
    return pool.checkChain(first.upstream, { number, hash });
  }
  const timeOf = (time: number | undefined): string => (timestamp === undefined ? '' : ` of ${time ?? 'none'}`);
  const atNodes = `${first?.value.hash ?? 'none'}${timeOf(first?.value.timestamp)}`;
  throw faultOf(chosen, `block ${number} is ${hash}${timeOf(timestamp)}, nodes have ${atNodes}`);
}

async function secondHeader(pool: UpstreamPool, number: number, first: string, signal: AbortSignal) {
  if (!pool.status().some(({ name, state }) => name !== first && state === 'healthy')) return undefined;
  try {
    const [answer] = await pool.getHeaders([number], { exclude: new Set([first]), signal, background: true });
    return answer?.value;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChainsteadError) return undefined;
    throw error;
  }
}

/** `stalled` aborts if nothing was made for the time; `pause` stops the watch until something is made. */
function watchProgress({ name }: BlockSource) {
  const stalled = new AbortController();
  const what = `sent nothing to commit in ${PROGRESS_MS / 1_000} s`;
  const abort = (): void => stalled.abort(new SourceError({ source: name, fault: 'unavailable', what }));
  let timer = setTimeout(abort, PROGRESS_MS).unref();
  const pause = (): void => clearTimeout(timer);
  return {
    stalled: stalled.signal,
    made(): void {
      pause();
      timer = setTimeout(abort, PROGRESS_MS).unref();
    },
    pause,
  };
}

interface PaceWatch {
  /** Counts what it reads. */
  readonly chosen: ChosenSource;
  /** Aborts with a `SourceError` if the source is slower than a tenth of the nodes. */
  readonly slow: AbortSignal;
  end(): void;
}

/** Waiting for the source alone counts, not for proofs and commits. Sparse logs may need a while for the first page. */
const JUDGED_AFTER_MS = { blocks: 5_000, logs: 15_000 } as const;
const CHECK_MS = 500;
const SHARE_MIN = 1 / 10;
/** Blocks a second that few nodes serve ten times as fast: they are not measured. */
const FAST = { blocks: 100, logs: 20_000 } as const;
const SAMPLE_BLOCKS = { blocks: 8, logs: 1_000 } as const;
const SAMPLE_MS_MAX = 20_000;
const MEASURED_FOR_MS = 60_000;

/** Counted in this process. */
const activeStreams = new WeakMap<BlockSource, number>();
const measured = new WeakMap<
  UpstreamPool,
  Map<SourceUse, { readonly at: number; readonly rate: Promise<number> }>
>();

interface PaceOptions {
  readonly pool: UpstreamPool;
  readonly use: SourceUse;
  /** Reads the blocks from nodes as the caller would. False: they have not all of them. */
  sample(range: BlockRange, signal: AbortSignal): Promise<boolean>;
}

/** Compares a source with nodes while it is read: one that is much slower would hold up what nodes could do. */
function watchPace(options: PaceOptions, chosen: ChosenSource): PaceWatch {
  const { source } = chosen;
  const { use } = options;
  const slow = new AbortController();
  let next = chosen.range.from;
  let received = 0;
  let waitedMs = 0;
  let waitsSince: number | null = null;

  async function* counted<Item>(items: AsyncIterable<Item>, rangeOf: (item: Item) => BlockRange) {
    try {
      waitsSince = performance.now();
      for await (const item of items) {
        waitedMs += waiting();
        waitsSince = null;
        received += rangeSize(rangeOf(item));
        next = rangeOf(item).to + 1;
        yield item;
        waitsSince = performance.now();
      }
    } finally {
      waitsSince = null;
    }
  }
  const waiting = (): number => (waitsSince === null ? 0 : performance.now() - waitsSince);

  async function judge(): Promise<void> {
    const seconds = (waitedMs + waiting()) / 1_000;
    const blocks = received;
    const rate = (blocks / seconds) * (activeStreams.get(source) ?? 1);
    received = 0;
    waitedMs = -waiting();
    if (rate >= FAST[use]) return;
    const ofNodes = await nodesRate(options, { from: Math.min(next, chosen.range.to), to: chosen.range.to });
    if (rate >= ofNodes * SHARE_MIN) return;
    const what = `sent ${blocks} blocks in ${seconds.toFixed(1)} s, while nodes read ${ofNodes.toFixed(0)} a second`;
    slow.abort(new SourceError({ source: source.name, fault: 'slow', what }));
  }

  activeStreams.set(source, (activeStreams.get(source) ?? 0) + 1);
  const timer = setInterval(() => {
    if (waitedMs + waiting() >= JUDGED_AFTER_MS[use]) void judge();
  }, CHECK_MS).unref();
  return {
    chosen: {
      ...chosen,
      source: {
        ...source,
        readBlocks: (...wanted) =>
          counted(source.readBlocks(...wanted), ({ block: { header } }) => ({
            ...{ from: header.number, to: header.number },
          })),
        readLogs: (...wanted) => counted(source.readLogs(...wanted), ({ range }) => range),
      },
    },
    slow: slow.signal,
    end() {
      clearInterval(timer);
      activeStreams.set(source, (activeStreams.get(source) ?? 1) - 1);
    },
  };
}

/** Blocks a second. 0: nodes can't read them. */
function nodesRate(options: PaceOptions, range: BlockRange): Promise<number> {
  const { pool, use } = options;
  const uses = measured.get(pool) ?? new Map();
  measured.set(pool, uses);
  const before = uses.get(use);
  if (before !== undefined && performance.now() - before.at < MEASURED_FOR_MS) return before.rate;
  const rate = measure(options, range);
  uses.set(use, { at: performance.now(), rate });
  return rate;
}

async function measure({ use, sample }: PaceOptions, { from, to }: BlockRange): Promise<number> {
  const part = { from, to: Math.min(to, from + SAMPLE_BLOCKS[use] - 1) };
  const startedAt = performance.now();
  try {
    if (!(await sample(part, AbortSignal.timeout(SAMPLE_MS_MAX)))) return 0;
    return (rangeSize(part) / (performance.now() - startedAt)) * 1_000;
  } catch {
    // Pruned blocks, or nodes that fail: the source is all there is.
    return 0;
  }
}
