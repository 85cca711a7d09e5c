import { silentLogger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { describe, expect, test } from 'vitest';
import { createFlushedCounts, type FlushedCounts } from './api-usage-counter.ts';

const HOUR = 3_600_000;
const DATABASE = {} as unknown as Database;

interface Written {
  readonly sum: number;
  readonly period: string;
}

/** A counter of one number with a controlled clock. */
function stage(fails: () => boolean = () => false) {
  const written: Written[] = [];
  const state = { now: 10 * HOUR + 1, writing: 0, writingMax: 0 };
  const counts: FlushedCounts<{ sum: number }> = createFlushedCounts({
    empty: () => ({ sum: 0 }),
    add: (to, from) => {
      to.sum += from.sum;
    },
    async write(_database, { sum }, period) {
      state.writing += 1;
      state.writingMax = Math.max(state.writingMax, state.writing);
      await new Promise((resolve) => setImmediate(resolve));
      state.writing -= 1;
      if (fails()) throw new Error('connection lost');
      written.push({ sum, period: period.toISOString() });
    },
    periodMs: HOUR,
    what: 'The sum',
    database: DATABASE,
    logger: silentLogger(),
    clock: { now: () => state.now },
  });
  return { counts, written, state };
}

describe('counts', () => {
  test('are written with the hour that they were counted in, one write at a time', async () => {
    const { counts, written, state } = stage();
    counts.current().sum += 1;
    const first = counts.flush();
    await new Promise((resolve) => setImmediate(resolve));
    counts.current().sum += 2;
    await Promise.all([first, counts.flush(), counts.flush()]);
    state.now += HOUR;
    counts.current().sum += 4;
    // Counted since the previous hour, which the timer would have flushed at its end; here no timer ran.
    await counts.flush();
    counts.current().sum += 8;
    await counts.close();
    expect(written).toEqual([
      { sum: 1, period: '1970-01-01T10:00:00.000Z' },
      { sum: 2, period: '1970-01-01T10:00:00.000Z' },
      { sum: 4, period: '1970-01-01T10:00:00.000Z' },
      { sum: 8, period: '1970-01-01T11:00:00.000Z' },
    ]);
    expect(state.writingMax).toBe(1);
  });

  test('that can not be written are kept, together with what was counted meanwhile', async () => {
    let isAway = true;
    const { counts, written } = stage(() => isAway);
    counts.current().sum += 3;
    const failing = counts.flush();
    await new Promise((resolve) => setImmediate(resolve));
    counts.current().sum += 4;
    await failing;
    isAway = false;
    await counts.close();
    expect(written).toMatchObject([{ sum: 7 }]);
  });

  test('of nothing are not written', async () => {
    const { counts, written } = stage();
    await counts.flush();
    await counts.close();
    expect(written).toEqual([]);
  });
});
