import type { Clock } from '@chainstead/core';
import { describe, expect, it } from 'vitest';
import { createProverPace, type ProverLoadSignals } from './prover-pace.ts';

const QUIET: ProverLoadSignals = { refused: false, crowded: false };
const signal = new AbortController().signal;

interface World {
  readonly limit?: number | 'auto';
  /** Maximum blocks per second of the upstream, which slows down above it. */
  readonly capacity?: number;
  /** Blocks per second above which the upstream refuses. */
  readonly refusesAbove?: number;
}

/** Runs spans over a virtual clock. */
function createWorld({ limit = 'auto', capacity = 500, refusesAbove = Number.POSITIVE_INFINITY }: World) {
  let now = 0;
  const clock: Clock = {
    now: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  };
  const pace = createProverPace(clock, limit);
  const refusals: number[] = [];
  const rates: number[] = [];
  const run = async (seconds: number, signs: Partial<ProverLoadSignals> = {}): Promise<void> => {
    for (const until = now + seconds * 1_000; now < until; ) {
      const started = now;
      const blocks = pace.rangeBlocks;
      const { rate } = pace;
      pace.begin();
      for (let block = 0; block < blocks; block += 1) {
        await pace.turn(signal);
        now = Math.max(now, started + (block * 1_000) / capacity);
      }
      const refused = rate > refusesAbove;
      if (refused) refusals.push(now);
      rates.push(rate);
      pace.end({ ...QUIET, refused, ...signs });
    }
  };
  return { pace, run, refusals, rates, now: () => now };
}

describe("the prover's pace", () => {
  it('comes near what an upstream manages, and leaves a share of it', async () => {
    const { pace, run, rates } = createWorld({ capacity: 200 });
    await run(300);
    const late = rates.slice(-20);
    const mean = late.reduce((sum, rate) => sum + rate, 0) / late.length;
    expect(mean).toBeGreaterThan(140);
    expect(mean).toBeLessThan(280);
    expect(pace.rangeBlocks).toBe(64);
  });

  it('comes near what an upstream allows and is refused a few times at most', async () => {
    const { run, refusals, rates } = createWorld({ refusesAbove: 40 });
    await run(120);
    expect(refusals.length).toBeLessThan(5);
    await run(1_000);
    // It tests a higher rate only every few minutes.
    expect(refusals.length).toBeLessThan(12);
    for (const rate of rates.slice(-10)) {
      expect(rate).toBeGreaterThan(20);
      expect(rate).toBeLessThan(60);
    }
  });

  it('never passes a number that was given, and comes back to it after a refusal', async () => {
    const { pace, run, rates } = createWorld({ limit: 50 });
    expect(pace.rate).toBe(50);
    await run(10, { refused: true });
    expect(pace.rate).toBeLessThan(20);
    await run(1_200);
    expect(pace.rate).toBe(50);
    expect(Math.max(...rates)).toBe(50);
  });

  it('gives way to a follower that is behind, without ever standing still', async () => {
    const { pace, run } = createWorld({});
    await run(60);
    await run(300, { crowded: true });
    expect(pace.rate).toBe(0.5);
    await run(120);
    expect(pace.rate).toBeGreaterThan(50);
  });

  it('takes blocks one by one over the second, not all at once', async () => {
    const { pace, now } = createWorld({ limit: 10 });
    pace.begin();
    const at: number[] = [];
    for (let block = 0; block < 4; block += 1) {
      await pace.turn(signal);
      at.push(now());
    }
    expect(at).toEqual([0, 100, 200, 300]);
  });
});
