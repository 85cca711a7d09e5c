import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import type { Dataset } from '@chainstead/sync/datasets';
import {
  backfillRanges,
  createSyncMetrics,
  keepSealing,
  type RangeCommandOptions,
  sealFullPartitions,
} from '@chainstead/sync/ingest';
import { descendantsOf } from '@chainstead/testkit';
import type { Comparison, Target } from './benchmark.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { processorSeconds } from './process-tree.ts';

export const TENTHS = 10;
/** Backfilled at a time: a backfill goes from the newest of its blocks to the oldest, the table is to grow upwards. */
const SLICE_BLOCKS = 500;

/** What is filled, and from what. */
export interface TenthsPlan {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  readonly datasets: readonly Dataset[];
  /** A multiple of {@link TENTHS}. */
  readonly blocks: number;
  readonly rowsPerBlock: number;
  /** Work after this many blocks, whose time does not count. */
  readonly pause: { readonly after: number; run(): Promise<void> };
  say(text: string): void;
}

/** What a tenth took. */
export interface Tenth {
  readonly perSecond: number;
  readonly logBytesEach: number;
  /** This process and its server, with {@link TenthsPlan.pool}. */
  readonly processorMicrosEach: number;
}

/** Backfills all blocks upwards. In the end all partitions that are full are sealed. */
export async function fillTenths(plan: TenthsPlan): Promise<readonly Tenth[]> {
  const { database } = plan;
  const options: RangeCommandOptions = {
    chain: plan.chain,
    pool: plan.pool,
    database,
    datasets: plan.datasets,
    logger: silentLogger(),
    metrics: createSyncMetrics(createMetricsRegistry()),
    clock: systemClock,
    proof: plan.chain.proofPolicy,
    backfillProof: 'none',
  };
  await database.query(sql`CHECKPOINT`);
  const stopped = new AbortController();
  // Concurrently with the writes, as in the program.
  const sealing = keepSealing(options, stopped.signal);
  try {
    return await fill(plan, options);
  } finally {
    stopped.abort();
    await sealing;
    await sealFullPartitions(options, new AbortController().signal);
  }
}

async function fill(
  { blocks, rowsPerBlock, pause, say }: TenthsPlan,
  options: RangeCommandOptions,
): Promise<readonly Tenth[]> {
  const tenths: Tenth[] = [];
  for (let tenth = 1; tenth <= TENTHS; tenth++) {
    const last = (blocks / TENTHS) * tenth;
    const spent = { ms: 0, logBytes: 0, processorSeconds: 0 };
    for (let from = last - blocks / TENTHS + 1; from <= last; ) {
      const to = sliceEnd(from, [last, pause.after]);
      const slice = await backfillSlice(options, { from, to });
      spent.ms += slice.ms;
      spent.logBytes += slice.logBytes;
      spent.processorSeconds += slice.processorSeconds;
      if (to === pause.after) await pause.run();
      from = to + 1;
    }
    const count = (blocks / TENTHS) * rowsPerBlock;
    const found = {
      perSecond: (count * 1_000) / spent.ms,
      logBytesEach: spent.logBytes / count,
      processorMicrosEach: (spent.processorSeconds * 1_000_000) / count,
    };
    tenths.push(found);
    say(
      `  tenth ${tenth}: ${Math.round(found.perSecond)} rows/s, ${Math.round(found.logBytesEach)} bytes of WAL and ${found.processorMicrosEach.toFixed(1)} µs of a processor per row`,
    );
  }
  return tenths;
}

/** A tenth shorter than the way from checkpoint to checkpoint has all page images of one, or none: so the mean, too. */
export function compareTenths(tenths: readonly Tenth[]): Comparison[] {
  const [first, last] = [tenths[0], tenths.at(-1)];
  if (first === undefined || last === undefined) throw new BenchmarkError('There are no tenths');
  const mean = tenths.reduce((sum, { logBytesEach }) => sum + logBytesEach, 0) / tenths.length;
  const rates = [last.perSecond, first.perSecond] as const;
  const processor = [last.processorMicrosEach, first.processorMicrosEach] as const;
  const log = [last.logBytesEach, first.logBytesEach] as const;
  return [
    compareOnce('rows of the last tenth, first tenth', 'rows/s', rates, { atLeast: 0.8 }),
    compareOnce('processor time of a row in the last tenth, first tenth', 'µs', processor, PROCESSOR_TARGET),
    compareOnce('WAL of a row in the last tenth, first tenth', 'bytes', log, { atMost: 1.3 }),
    compareOnce('WAL of a row in all tenths, first tenth', 'bytes', [mean, first.logBytesEach]),
  ];
}

/** Holds on a busy machine too, unlike rows per second. Elsewhere than on Linux, it is not measured. */
const PROCESSOR_TARGET: Target | undefined = process.platform === 'linux' ? { atMost: 1.25 } : undefined;

/** The figures of all tenths, as notes. */
export function notesOfTenths(tenths: readonly Tenth[]): string[] {
  const list = (figure: (tenth: Tenth) => number): string =>
    tenths.map((one) => Math.round(figure(one))).join(', ');
  return [
    `Rows per second by tenth: ${list(({ perSecond }) => perSecond)}.`,
    `Processor time per row by tenth, µs: ${list(({ processorMicrosEach }) => processorMicrosEach)}.`,
    `Bytes of WAL per row by tenth: ${list(({ logBytesEach }) => logBytesEach)}.`,
  ];
}

/** A comparison of one run of each side. */
export function compareOnce(
  name: string,
  unit: string,
  [ours, peer]: readonly [ours: number, peer: number],
  target?: Target,
): Comparison {
  return { name, unit, ours: [ours], peer: [peer], ...(target === undefined ? {} : { target }) };
}

/** The last block of a slice, which goes beyond none of these. */
function sliceEnd(from: number, ends: readonly number[]): number {
  return Math.min(from + SLICE_BLOCKS - 1, ...ends.filter((end) => end >= from));
}

async function backfillSlice(
  options: RangeCommandOptions,
  range: { readonly from: number; readonly to: number },
): Promise<{ ms: number; logBytes: number; processorSeconds: number }> {
  const before = { log: await logPosition(options.database), processor: processorTime(), at: performance.now() };
  await backfillRanges(options, [range], new AbortController().signal);
  const ms = performance.now() - before.at;
  return {
    ms,
    processorSeconds: processorTime() - before.processor,
    logBytes: (await logPosition(options.database)) - before.log,
  };
}

/** Other work on the machine hardly changes it. Linux only: NaN elsewhere. */
function processorTime(): number {
  if (process.platform !== 'linux') return Number.NaN;
  return processorSeconds([process.pid, ...descendantsOf(process.pid)]);
}

/** Bytes that the server has written to the WAL so far. */
async function logPosition(database: Database): Promise<number> {
  const [row] = await database.query<{ bytes: string }>(
    sql`SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text AS bytes`,
  );
  return Number(row?.bytes);
}
