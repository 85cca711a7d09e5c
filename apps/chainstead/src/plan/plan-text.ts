import { rangeSize } from '@chainstead/core';
import { renderFinding } from '../doctor/doctor-text.ts';
import { sizeText } from '../text/cluster-status-text.ts';
import { formatSeconds } from '../text/progress.ts';
import { renderTable } from '../text/text-table.ts';
import type { HistoryPlan } from './make-plan.ts';

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
