import type { Clock } from '@chainstead/core';
import { describe, expect, it } from 'vitest';
import { createProgressReport, formatSeconds, measureRate } from './progress.ts';

function createWorld() {
  let now = 0;
  const written: string[] = [];
  const clock: Clock = { now: () => now, sleep: () => Promise.resolve() };
  const output = { write: (text: string) => written.push(text) };
  const report = createProgressReport({ work: 'backfill', chain: 'eth', unit: 'blocks', output, clock });
  return { report, lines: () => written.map((line) => JSON.parse(line)), advance: (ms: number) => (now += ms) };
}

describe('progress without a terminal', () => {
  it('is one JSON line a second at most, with rate and time left', () => {
    const { report, lines, advance } = createWorld();
    report.update({ done: 0, total: 1_000, logs: 0 });
    advance(500);
    report.update({ done: 50, total: 1_000, logs: 7 });
    advance(500);
    report.update({ done: 100, total: 1_000, logs: 20 });
    expect(lines()).toEqual([
      {
        work: 'backfill',
        chain: 'eth',
        unit: 'blocks',
        done: 0,
        total: 1_000,
        logs: 0,
        per_second: null,
        seconds_left: null,
      },
      {
        work: 'backfill',
        chain: 'eth',
        unit: 'blocks',
        done: 100,
        total: 1_000,
        logs: 20,
        per_second: 100,
        seconds_left: 9,
      },
    ]);
  });

  it('ends with the last state even when it came right after another', () => {
    const { report, lines, advance } = createWorld();
    report.update({ done: 999, total: 1_000, logs: 1 });
    advance(10);
    report.update({ done: 1_000, total: 1_000, logs: 2 });
    report.finish();
    expect(lines().at(-1)).toMatchObject({ done: 1_000, seconds_left: 0 });
  });
});

describe('measureRate', () => {
  it('knows nothing before the first unit', () => {
    expect(measureRate({ done: 0, total: 5, logs: 0 }, 1_000)).toEqual({ perSecond: null, secondsLeft: null });
  });
});

describe('formatSeconds', () => {
  it.each([
    [45, '45s'],
    [200, '3m 20s'],
    [7_500, '2h 5m'],
    [4_406_400, '51d 0h'],
  ])('%i is %s', (seconds, text) => {
    expect(formatSeconds(seconds)).toBe(text);
  });
});
