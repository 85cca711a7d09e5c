import { TABLE_WRITES } from '@chainstead/db/table-writes';
import type { Sample } from './sample.ts';
import { quantile } from './series.ts';
import type { SoakResult } from './soak-result.ts';
import type { Verdict } from './verdicts.ts';

const MEGABYTE = 1_048_576;
/** Smaller tables are not shown. */
const SHOWN_BYTES = 256 * 1_024;

/** Of the processors' time. */
const SHOWN_STOLEN = 0.01;

/** One line for a person. */
export function progressLine(sample: Sample, totalSeconds: number): string {
  const { world, pages, lagsMs } = sample;
  const rate = (count: number): string => Math.round(count / sample.stretchSeconds).toLocaleString('en-US');
  const memory = [...sample.memory].map(([name, { rss }]) => `${name} ${(rss / MEGABYTE).toFixed(0)}`).join(' ');
  const problems = problemsOf(sample);
  return [
    `${clock(sample.seconds)} of ${clock(totalSeconds)}`,
    `${rate(world.mined)} blocks/s, ${rate(world.transfers)} transfers/s, ${world.reorgs} reorgs`,
    `lag ${milliseconds(lagsMs)}`,
    `pages ${milliseconds(pages.latenciesMs)}`,
    `webhooks ${rate(world.webhooks)}/s ${milliseconds(world.delaysMs)}`,
    `MB ${memory}`,
    ...(sample.stolen !== null && sample.stolen >= SHOWN_STOLEN ? [`stolen ${percent(sample.stolen)}`] : []),
    problems === '' ? 'no problems' : problems,
  ].join(' | ');
}

function problemsOf({ world, late, pages, complaints }: Sample): string {
  const counts: Readonly<Record<string, number>> = {
    'late webhooks': late.unconfirmed,
    repeated: world.repeated,
    twice: world.twice,
    unasked: world.unasked + world.orphaned,
    'wrong signatures': world.badSignatures,
    'failed pages': Object.values(pages.failures).reduce((sum, count) => sum + count, 0),
    'blocks skipped by the node': world.skipped,
    'warnings and errors': Object.values(complaints).reduce((sum, count) => sum + count, 0),
  };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

/** p50 and p99. */
function milliseconds(values: readonly number[]): string {
  if (values.length === 0) return '-';
  return `${quantile(values, 0.5).toFixed(0)}/${quantile(values, 0.99).toFixed(0)} ms`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

/** The whole result for a person: tables, then verdicts, then the names of those that failed. */
export function resultText(result: SoakResult): string {
  const failed = result.verdicts.filter(({ passed }) => passed === false);
  const outcome = failed.length === 0 ? 'All verdicts passed' : `FAILED: ${failed.map(({ name }) => name).join('; ')}`;
  return [tablesText(result), '', ...complaintLines(result), ...result.verdicts.map(verdictLine), '', outcome].join(
    '\n',
  );
}

/** What the program warned of, and how often. */
function complaintLines({ samples }: SoakResult): string[] {
  const counts = new Map<string, number>();
  for (const { complaints } of samples)
    for (const [text, count] of Object.entries(complaints)) counts.set(text, (counts.get(text) ?? 0) + count);
  return [...counts].map(([text, count]) => `${String(count).padStart(5)} × ${text}`);
}

function verdictLine({ name, passed, measured }: Verdict): string {
  const mark = passed === null ? 'not judged' : passed ? 'ok' : 'FAILED';
  return `${mark.padEnd(10)} ${name}: ${measured}`;
}

function tablesText({ samples, contents }: SoakResult): string {
  const header = [
    'table',
    'kind',
    'live',
    'dead',
    'MB',
    'bytes/row',
    'updates',
    'HOT',
    'deletes',
    'vacuums',
    'dead/free space',
  ];
  const first = samples[Math.floor(samples.length / 5)];
  const rows = (samples.at(-1)?.tables ?? [])
    .filter(({ tableBytes, indexBytes }) => tableBytes + indexBytes > SHOWN_BYTES)
    .map((table) => {
      const bytes = table.tableBytes + table.indexBytes;
      const early = first?.tables.find(({ name }) => name === table.name);
      const earlyBytes = early === undefined ? 0 : (early.tableBytes + early.indexBytes) / Math.max(1, early.live);
      const counted = contents?.find(({ name }) => name === table.name);
      return [
        table.name,
        TABLE_WRITES[table.name] ?? '?',
        String(table.live),
        String(table.dead),
        (bytes / MEGABYTE).toFixed(1),
        `${earlyBytes.toFixed(0)} → ${(bytes / Math.max(1, table.live)).toFixed(0)}`,
        String(table.updated),
        table.updated === 0 ? '-' : `${((100 * table.hotUpdated) / table.updated).toFixed(0)} %`,
        String(table.deleted),
        String(table.vacuums),
        counted === undefined ? '-' : `${counted.deadPercent} % / ${counted.freePercent} %`,
      ];
    });
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => row[column]?.length ?? 0)));
  return [header, ...rows]
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .join('\n');
}

/** The result as JSON: figures of each sample in place of its single values. */
export function resultJson({ samples, ...result }: SoakResult): object {
  const figures = (values: readonly number[]): object => ({
    count: values.length,
    p50: quantile(values, 0.5),
    p99: quantile(values, 0.99),
  });
  return {
    ...result,
    samples: samples.map(({ memory, lagsMs, pages, world, ...sample }) => ({
      ...sample,
      lagMs: figures(lagsMs),
      pages: { ...figures(pages.latenciesMs), failures: pages.failures },
      world: { ...world, delaysMs: figures(world.delaysMs) },
      memory: Object.fromEntries(memory),
    })),
  };
}
