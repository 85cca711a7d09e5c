import { cpus, totalmem } from 'node:os';
import type { BenchmarkReport, Comparison, Target } from './benchmark.ts';
import { median, ratioOf, spread } from './statistics.ts';

/** A benchmark's report with what is computed from it, as it is written to disk. */
export interface BenchmarkResult extends BenchmarkReport {
  readonly benchmark: string;
  readonly title: string;
  readonly seconds: number;
}

/** What the figures were measured on. */
export function describeMachine(): Record<string, unknown> {
  const processors = cpus();
  return {
    processors: processors.length,
    processor: processors[0]?.model ?? 'unknown',
    memory_gib: Math.round(totalmem() / 1024 ** 3),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  };
}

/** Plain JSON, with medians and ratios next to the samples. */
export function toJson(result: BenchmarkResult): Record<string, unknown> {
  return {
    benchmark: result.benchmark,
    title: result.title,
    seconds: result.seconds,
    comparisons: result.comparisons.map((comparison) => ({
      ...comparison,
      ...ratioOf(comparison.ours, comparison.peer),
      met: isMet(comparison),
    })),
    measures: result.measures.map((measure) => ({ ...measure, median: median(measure.samples) })),
    notes: result.notes,
  };
}

/** A table for people. */
export function renderTable(results: readonly BenchmarkResult[]): string {
  const rows = [['figure', 'ours (median, spread)', 'peer (median, spread)', 'ratio (spread)', 'target', '']];
  for (const result of results) {
    rows.push([`${result.benchmark}: ${result.title}`]);
    for (const comparison of result.comparisons) rows.push(comparisonRow(comparison));
    for (const measure of result.measures)
      rows.push([
        `  ${measure.name}`,
        `${figures(measure.samples)} ${measure.unit}`,
        '',
        '',
        measure.target === undefined ? '' : describeTarget(measure.target),
        measure.target === undefined ? '' : verdict(median(measure.samples), measure.target),
      ]);
  }
  return alignColumns(rows);
}

function comparisonRow(comparison: Comparison): string[] {
  const { ratio, spread: ratios } = ratioOf(comparison.ours, comparison.peer);
  const { target } = comparison;
  return [
    `  ${comparison.name}`,
    `${figures(comparison.ours)} ${comparison.unit}`,
    figures(comparison.peer),
    `${figure(ratio)} (${ratios.map(figure).join('–')})`,
    target === undefined ? '' : describeTarget(target),
    target === undefined ? '' : verdict(ratio, target),
  ];
}

function isMet(comparison: Comparison): boolean | null {
  const { target } = comparison;
  return target === undefined ? null : meets(ratioOf(comparison.ours, comparison.peer).ratio, target);
}

function meets(value: number, target: Target): boolean {
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

function verdict(value: number, target: Target): string {
  return meets(value, target) ? 'met' : 'MISSED';
}

function describeTarget(target: Target): string {
  return 'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
}

function figures(samples: readonly number[]): string {
  return `${figure(median(samples))} (${spread(samples).map(figure).join('–')})`;
}

function figure(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(3);
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows)
    if (row.length > 1)
      row.forEach((cell, column) => {
        widths[column] = Math.max(widths[column] ?? 0, cell.length);
      });
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
