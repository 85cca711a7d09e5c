import type { Clock } from '@chainstead/core';
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

export interface ProgressOptions {
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
