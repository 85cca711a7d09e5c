import { type Clock, rangeSize } from '@chainstead/core';
import { type ChainStatus, rangesFromSource } from '@chainstead/sync/ingest';
import { Presets, SingleBar } from 'cli-progress';
import type { Output } from '../session/command-context.ts';

export interface WorkProgress {
  readonly done: number;
  readonly total: number;
  readonly logs: number;
}

export interface ProgressReport {
  update(progress: WorkProgress): void;
  finish(): void;
}

interface ProgressOptions {
  readonly work: string;
  readonly chain: string;
  readonly unit: string;
  /** The rows in `logs`. @default 'logs' */
  readonly counts?: 'logs' | 'rows';
  readonly output: Output;
  readonly clock: Clock;
}

const LINE_INTERVAL_MS = 1_000;
const MS_PER_SECOND = 1_000;
const HOURS_AS_DAYS = 48;

export function createProgressReport(options: ProgressOptions): ProgressReport {
  return options.output.isTTY === true ? createBar(options) : createLines(options);
}

export function measureRate(
  { done, total }: WorkProgress,
  elapsedMs: number,
): { readonly perSecond: number | null; readonly secondsLeft: number | null } {
  if (done === 0 || elapsedMs <= 0) return { perSecond: null, secondsLeft: null };
  const perSecond = (done / elapsedMs) * MS_PER_SECOND;
  return { perSecond: Math.round(perSecond * 10) / 10, secondsLeft: Math.ceil((total - done) / perSecond) };
}

function createLines(options: ProgressOptions): ProgressReport {
  const { clock, output, work, chain, unit, counts = 'logs' } = options;
  const startedAt = clock.now();
  let shownAt = Number.NEGATIVE_INFINITY;
  let unshown: WorkProgress | null = null;
  const show = (progress: WorkProgress): void => {
    const { perSecond, secondsLeft } = measureRate(progress, clock.now() - startedAt);
    const { done, total, logs } = progress;
    const line = {
      work,
      chain,
      unit,
      done,
      total,
      [counts]: logs,
      per_second: perSecond,
      seconds_left: secondsLeft,
    };
    output.write(`${JSON.stringify(line)}\n`);
    shownAt = clock.now();
    unshown = null;
  };
  return {
    update(progress) {
      if (clock.now() - shownAt >= LINE_INTERVAL_MS) show(progress);
      else unshown = progress;
    },
    finish() {
      if (unshown !== null) show(unshown);
    },
  };
}

function createBar(options: ProgressOptions): ProgressReport {
  const { clock, work, chain, unit, counts = 'logs' } = options;
  const startedAt = clock.now();
  const bar = new SingleBar(
    {
      format: `${work} ${chain} {bar} {percentage}% | {value}/{total} ${unit} | {rate} ${unit}/s | {logs} ${counts} | {left} left`,
      hideCursor: true,
    },
    Presets.shades_classic,
  );
  let isStarted = false;
  return {
    update(progress) {
      const { perSecond, secondsLeft } = measureRate(progress, clock.now() - startedAt);
      const shown = {
        logs: progress.logs,
        rate: perSecond ?? '–',
        left: secondsLeft === null ? '–' : formatSeconds(secondsLeft),
      };
      if (isStarted) {
        bar.setTotal(progress.total);
        bar.update(progress.done, shown);
      } else {
        bar.start(progress.total, progress.done, shown);
        isStarted = true;
      }
    },
    finish() {
      if (isStarted) bar.stop();
    },
  };
}

/** `45s`, `3m 20s`, `2h 5m`, `4d 3h`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= HOURS_AS_DAYS) return `${Math.floor(hours / 24)}d ${hours % 24}h`;
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${hours}h ${minutes % 60}m`;
}

type SourceStatus = ChainStatus['sources'][number];
type UseStatus = SourceStatus['uses']['blocks'];

const RANGES_SHOWN = 3;
const FILES_SHOWN = 5;
const RANGES_IN_JSON = 100;

export function renderSources(
  { sources, unknownHead, coverage }: Pick<ChainStatus, 'sources' | 'unknownHead' | 'coverage'>,
  now: number,
): string[] {
  // An ended process reads nothing.
  if (unknownHead?.isSilent === true) return [];
  return sources.flatMap(({ name, uses: { blocks, logs }, refusals = [] }) => [
    `  source      ${name}: ${useText('whole blocks', blocks, now)}; ${useText('blocks of logs', logs, now)}`,
    ...refusals.slice(0, FILES_SHOWN).map(({ reason }) => `    left out: ${reason}`),
    ...(refusals.length > FILES_SHOWN ? [`    left out: ${refusals.length - FILES_SHOWN} more files`] : []),
    ...rangesText(coverage, name),
  ]);
}

function rangesText(coverage: ChainStatus['coverage'], name: string): string[] {
  const ranges = rangesFromSource(coverage, name);
  if (ranges.length === 0) return [];
  const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const newest = ranges.slice(0, RANGES_SHOWN).map(({ from, to }) => `${from} to ${to}`);
  const more = ranges.length > RANGES_SHOWN ? `, and ${ranges.length - RANGES_SHOWN} older ranges` : '';
  return [`    ${blocks} indexed blocks come from it: ${newest.join(', ')}${more}`];
}

function useText(noun: string, { blocks, reason, until }: UseStatus, now: number): string {
  if (reason === null) return `${blocks} ${noun}`;
  if (until === null || until <= now) return `${blocks} ${noun}, last failure: ${reason}`;
  const time = new Date(until).toISOString().slice(11, 16);
  return `${blocks} ${noun}, left alone until ${time} UTC: ${reason}`;
}

export function sourceJson(
  { name, available, uses, refusals = [] }: SourceStatus,
  coverage: ChainStatus['coverage'],
): Readonly<Record<string, unknown>> {
  const indexed = rangesFromSource(coverage, name);
  return {
    ...{ name, available, blocks: useJson(uses.blocks), logs: useJson(uses.logs) },
    left_out: refusals,
    indexed_blocks: indexed.reduce((sum, range) => sum + rangeSize(range), 0),
    newest_ranges: indexed.slice(0, RANGES_IN_JSON),
  };
}

function useJson({ blocks, failures, reason, until }: UseStatus): Readonly<Record<string, unknown>> {
  const leftAloneUntil = until === null ? null : new Date(until).toISOString();
  return { blocks_read: blocks, failures, reason, left_alone_until: leftAloneUntil };
}
