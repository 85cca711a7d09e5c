/** Compares a source with nodes while it is read: one that is much slower would hold up what nodes could do. */
import { type BlockRange, rangeSize } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { type BlockSource, type ChosenSource, SourceError, type SourceUse } from '@chainstead/sources';

export interface PaceWatch {
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

export interface PaceOptions {
  readonly pool: UpstreamPool;
  readonly use: SourceUse;
  /** Reads the blocks from nodes as the caller would. False: they have not all of them. */
  sample(range: BlockRange, signal: AbortSignal): Promise<boolean>;
}

export function watchPace(options: PaceOptions, chosen: ChosenSource): PaceWatch {
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
