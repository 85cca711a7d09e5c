import type { Chain } from '@chainstead/chains';
import { type BlockRange, errorText, rangeSize } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { missingRanges, readSettledHeight } from '@chainstead/sync/ingest';
import { blockAtTime } from '@chainstead/transactions';
import { renderFinding } from '../doctor/examine-nodes.ts';
import { UsageError } from '../errors/usage-error.ts';
import type { BlockRangeOptions } from '../ranges/block-range-options.ts';
import { type RunRange, runRangeWork } from '../ranges/range-command.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { formatSeconds } from '../text/progress.ts';
import { renderTable, sizeText } from '../text/text-table.ts';
import { type HistoryPlan, makePlan } from './make-plan.ts';

type Estimate = HistoryPlan['estimate'];

export function renderPlan(plan: HistoryPlan): string {
  const { chain, ranges, estimate, findings } = plan;
  const { rows, bytes } = totalOf(estimate);
  const datasets = estimate.datasets.map((dataset) => [
    dataset.name,
    dataset.rows ?? 'unknown',
    dataset.bytes === null ? 'unknown' : sizeText(dataset.bytes),
    dataset.isMeasured ? 'stored rows' : 'the sample',
  ]);
  const reads = estimate.reads.map(({ source, reading, blocks, sampled, perSecond }) => [
    source ?? 'nodes',
    reading,
    blocks,
    sampled,
    perSecond === null ? 'none' : rateText(perSecond),
    perSecond === null ? 'unknown' : hoursText(blocks / perSecond),
  ]);
  const requested = ranges.map(({ from, to }) => `${from} to ${to}`).join(', ');
  return [
    `${chain}: blocks ${requested}, ${countText(estimate.blocks)} to index\n`,
    renderTable(
      ['dataset', 'rows', 'disk', 'bytes per row from'],
      [...datasets, ['total', rows, sizeText(bytes), '']],
    ),
    renderTable(['source', 'reads', 'blocks', 'sampled', 'blocks/s', 'hours'], reads),
    `${timeText(estimate)}, with one process. ROLES=ingest:N shares the work.\n${writesText(estimate)}${FORMULA}`,
    findings.map(renderFinding).join(''),
  ].join('\n');
}

const FORMULA =
  'blocks/s = 4 reads at once ÷ (wait for a request ÷ blocks of a full request + time per block), measured in the sample.\n' +
  'rows = rows of the sample × blocks ÷ sampled blocks. Rows of contracts and tokens that appear later are not in it.\n';

/** One line, for logs of scripts. */
export function shortPlan({ chain, estimate, findings }: HistoryPlan): string {
  const { rows, bytes } = totalOf(estimate);
  const problems = findings
    .filter(({ verdict }) => verdict !== 'ok')
    .map(({ subject, found }) => `${subject}: ${found}`);
  const warning = problems.length === 0 ? '' : ` Check ${problems.join('; ')}.`;
  return `${chain}: about ${countText(rows)} rows and ${sizeText(bytes)} for ${countText(estimate.blocks)} blocks. ${timeText(estimate)}.${warning}\n`;
}

export function planJson({ chain, ranges, estimate, findings }: HistoryPlan): Readonly<Record<string, unknown>> {
  const { rows, bytes } = totalOf(estimate);
  return {
    chain,
    ranges: ranges.map(({ from, to }) => ({ from_block: from, to_block: to, blocks: rangeSize({ from, to }) })),
    blocks: estimate.blocks,
    rows,
    bytes,
    hours: estimate.seconds === null ? null : estimate.seconds / HOUR,
    rows_per_second: rowsPerSecond(estimate),
    datasets: estimate.datasets.map(({ name, isMeasured, ...dataset }) => ({
      ...{ name, rows: dataset.rows, bytes: dataset.bytes },
      bytes_from: isMeasured ? 'stored rows' : 'sample',
    })),
    sources: estimate.reads.map(({ source, reading, blocks, sampled, perSecond, failure }) => ({
      ...{ source: source ?? 'nodes', reads: reading, blocks, sampled_blocks: sampled },
      blocks_per_second: perSecond,
      hours: perSecond === null ? null : blocks / perSecond / HOUR,
      failure,
    })),
    findings,
  };
}

function totalOf({ datasets }: Estimate): { readonly rows: number; readonly bytes: number } {
  const sumOf = (part: 'rows' | 'bytes') => datasets.reduce((sum, dataset) => sum + (dataset[part] ?? 0), 0);
  return { rows: sumOf('rows'), bytes: sumOf('bytes') };
}

const HOUR = 3_600;

function timeText({ seconds }: Estimate): string {
  if (seconds === null) return 'The time is unknown: some blocks could not be read';
  return `About ${formatSeconds(Math.ceil(seconds))} from the first source that has a block`;
}

/** The sample writes nothing: a slower server makes the backfill slower. */
function writesText(estimate: Estimate): string {
  const perSecond = rowsPerSecond(estimate);
  return perSecond === null
    ? ''
    : `Postgres must write ${countText(perSecond)} rows per second for that, which is not measured.\n`;
}

function rowsPerSecond(estimate: Estimate): number | null {
  const { seconds } = estimate;
  return seconds === null || seconds === 0 ? null : totalOf(estimate).rows / seconds;
}

function hoursText(seconds: number): string {
  const hours = seconds / HOUR;
  return hours >= 100 ? countText(hours) : hours.toPrecision(2);
}

function rateText(perSecond: number): string {
  return perSecond >= 10 ? countText(perSecond) : perSecond.toFixed(1);
}

function countText(count: number): string {
  return Math.round(count).toLocaleString('en-US');
}

const BLOCKS_MAX = 1_000_000;

/** Large work shows its estimate first. A person confirms it; a script continues. @throws UsageError if a person declines */
export function withPlan<T>(run: RunRange<T>, context: CommandContext): RunRange<T> {
  return async (work, ranges, signal, session) => {
    const plan = planLarge(context);
    if (isLarge(ranges)) await confirm(context, work.chain.key, () => plan(work, ranges, signal, session));
    return run(work, ranges, signal, session);
  };
}

/** The same for a job that another process runs. @throws UsageError if a person declines */
export async function confirmJob(
  invocation: Invocation<BlockRangeOptions>,
  ranges: readonly BlockRange[],
): Promise<void> {
  const { context, options } = invocation;
  if (!isLarge(ranges)) return;
  await confirm(context, options.chain, async () => {
    const { result } = await runRangeWork({ ...invocation, name: 'backfill' }, planLarge(context));
    return result;
  });
}

/** Null: few blocks are missing. */
function planLarge({ stderr }: CommandContext): RunRange<HistoryPlan | null> {
  return async (work, ranges, signal, session) => {
    if (!isLarge(await missingRanges({ ...work, proof: work.backfillProof }, ranges))) return null;
    stderr.write(`${work.chain.key}: estimating from a sample of 200 blocks of each source (--yes skips this)\n`);
    return makePlan({ ...work, ...session }, ranges, signal);
  };
}

async function confirm(
  { ask, stderr, stopSignal }: CommandContext,
  chain: string,
  make: () => Promise<HistoryPlan | null>,
): Promise<void> {
  try {
    const plan = await make();
    if (plan === null) return;
    stderr.write(ask === undefined ? shortPlan(plan) : renderPlan(plan));
  } catch (error) {
    stopSignal.throwIfAborted();
    stderr.write(`${chain}: no estimate: ${errorText(error)}\n`);
  }
  const answer = ask === undefined ? 'y' : await ask('Continue? [y/N] ');
  if (!/^y(es)?$/i.test(answer?.trim() ?? ''))
    throw new UsageError('Nothing was indexed: the backfill was not confirmed', 'Answer y, or add --yes');
}

function isLarge(ranges: readonly BlockRange[]): boolean {
  return ranges.reduce((sum, range) => sum + rangeSize(range), 0) > BLOCKS_MAX;
}

type BlockBound = { readonly block: number } | { readonly seconds: number };

const BLOCK = /^\d+$/;
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/;

/** @throws UsageError */
export function parseBound(option: string, text: string): BlockBound {
  const block = BLOCK.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(block)) return { block };
  const time = DATE.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse accepts February 30.
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text.slice(0, 10)))
    return { seconds: time / 1_000 };
  throw new UsageError(
    `${option} ${text} is not a block or a date`,
    'Use a block number, or a date such as 2023-01-01 or 2023-01-01T12:00Z',
  );
}

interface Reader {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
}

/** Dates count in UTC. @param to absent: the newest final block. @throws UsageError */
export async function resolveBounds(
  reader: Reader,
  { from, to }: { readonly from: BlockBound; readonly to: BlockBound | null },
  signal: AbortSignal,
): Promise<BlockRange> {
  const settled = await readSettledHeight(reader.pool, reader.chain);
  const first = await blockOf(reader, '--from', from, 'after', signal);
  const last = to === null ? settled : await blockOf(reader, '--to', to, 'before', signal);
  if (last > settled)
    throw new UsageError(`Block ${last} is not final: the newest final block is ${settled}`, 'Leave out --to');
  if (first > last)
    throw new UsageError(`The last block ${last} is below the first ${first}`, 'Choose another range');
  return { from: Math.max(first, reader.chain.firstBlock), to: last };
}

async function blockOf(
  { chain, pool }: Reader,
  option: string,
  bound: BlockBound,
  closest: 'after' | 'before',
  signal: AbortSignal,
): Promise<number> {
  if ('block' in bound) return bound.block;
  const time = bound.seconds;
  const { block } = await blockAtTime({ chain, pool, known: async () => [] }, { time, closest }, signal);
  if (closest === 'after' ? block.timestamp >= time : block.timestamp <= time) return block.number;
  const date = new Date(time * 1_000).toISOString();
  const what = closest === 'after' ? 'no block since' : 'no block before';
  throw new UsageError(`${option}: ${chain.key} has ${what} ${date}`, 'Use another date, or a block number');
}
