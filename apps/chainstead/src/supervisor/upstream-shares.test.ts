import type { CallPace, CallSlots } from '@chainstead/rpc';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RoleName } from '../configuration/index.ts';
import { createSharedLimits } from './shared-limits.ts';
import { type CallingProcess, createUpstreamShares } from './upstream-shares.ts';

const URL = 'https://node.example';
const clock = { now: () => Date.now() };
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Processes whose messages are under way until they are delivered, in order. */
function createStage(roles: readonly RoleName[]) {
  const shares = createUpstreamShares();
  const messages: (() => void)[] = [];
  const processes = roles.map((role) => {
    const process: CallingProcess = {
      role,
      send: (message) =>
        messages.push(() => {
          own.share = message.share;
          limits.receive(message);
        }),
    };
    const limits = createSharedLimits((message) => messages.push(() => shares.receive(process, message)), clock);
    const own = { share: 0, limits, leave: () => shares.left(process) };
    return own;
  });
  const stage = {
    processes,
    sent: 0,
    deliver(): void {
      for (let message = messages.shift(); message !== undefined; message = messages.shift()) {
        stage.sent += 1;
        message();
      }
    },
    async advance(ms: number, step = 10): Promise<void> {
      for (let passed = 0; passed < ms; passed += step) {
        stage.deliver();
        await vi.advanceTimersByTimeAsync(step);
      }
      stage.deliver();
    },
    /** In parts of 200 of a rate. */
    rates: (): number[] => processes.map(({ share }) => share),
  };
  return stage;
}

function pacesOf(stage: ReturnType<typeof createStage>, requestsPerSecond: number): CallPace[] {
  return stage.processes.flatMap(({ limits }) => limits.paceOf({ url: URL, requestsPerSecond }) ?? []);
}

describe('shares of a rate', () => {
  test('go to the busy process, back to one that begins to call, and to the others when a process ends', async () => {
    const stage = createStage(['ingest', 'api', 'worker']);
    const [ingest, api] = pacesOf(stage, 100);
    await stage.advance(10);
    expect(stage.rates()).toEqual([66, 67, 67]);
    for (let call = 0; call < 2_000; call += 1) void ingest?.take(1, {});
    await stage.advance(200);
    expect(stage.rates()).toEqual([198, 1, 1]);
    for (let call = 0; call < 2_000; call += 1) void api?.take(1, {});
    await stage.advance(200);
    expect(stage.rates()).toEqual([99, 100, 1]);
    stage.processes[0]?.leave();
    stage.deliver();
    expect(stage.rates()).toEqual([99, 199, 1]);
  });

  test('cost one message a second at most while nothing waits', async () => {
    const stage = createStage(['api', 'ingest']);
    const [api] = pacesOf(stage, 20_000);
    await stage.advance(1_000);
    stage.sent = 0;
    for (let second = 0; second < 5; second += 1) {
      for (let call = 0; call < 1_000; call += 1) expect(api?.take(1, {})).toBeNull();
      await stage.advance(1_000);
    }
    expect(stage.sent).toBeLessThanOrEqual(6);
  });

  test('are never more than the rate together, whenever messages arrive', async () => {
    const step = fc.record({
      by: fc.nat(3),
      calls: fc.nat(20),
      after: fc.constantFrom(0, 100, 1_000),
      delivers: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 2, max: 60 }), async (steps, rate) => {
        const stage = createStage(['api', 'api', 'ingest', 'worker']);
        const paces = pacesOf(stage, rate);
        for (const { by, calls, after, delivers } of steps) {
          for (let call = 0; call < calls; call += 1) void paces[by]?.take(1, {});
          if (delivers) stage.deliver();
          await vi.advanceTimersByTimeAsync(after);
          expect(stage.rates().reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(200);
        }
        for (let second = 0; second < 600 && paces.some(({ waiting }) => waiting > 0); second += 1)
          await stage.advance(1_000, 1_000);
        expect(paces.map(({ waiting }) => waiting)).toEqual([0, 0, 0, 0]);
        vi.clearAllTimers();
      }),
      { numRuns: 20 },
    );
  });
});

/** A request that begins when its slot is there, and is counted until it is over. */
function request(slots: CallSlots | null | undefined, urgent: boolean) {
  const aborting = new AbortController();
  const state = { isBegun: false, isOver: false };
  void (async () => {
    try {
      await slots?.take(1, { urgent, signal: aborting.signal });
      state.isBegun = true;
    } catch (error) {
      expect(error).toBe(aborting.signal.reason);
      state.isOver = true;
    }
  })();
  return {
    state,
    giveUp: () => aborting.abort(new Error('given up')),
    end() {
      if (!state.isBegun || state.isOver) return;
      state.isOver = true;
      slots?.leave();
    },
  };
}

describe('shares of requests in flight', () => {
  test('are never more than there are, also with more processes than slots, and let everybody go in the end', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('begin' as const), by: fc.nat(3), urgent: fc.boolean() }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(30) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('give-up' as const), which: fc.nat(30) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('deliver' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const) }) },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 80 }),
        fc.integer({ min: 1, max: 20 }),
        async (steps, concurrency) => {
          const stage = createStage(['api', 'api', 'ingest', 'worker']);
          const slots = stage.processes.map(({ limits }) => limits.slotsOf({ url: URL, concurrency }));
          const requests: ReturnType<typeof request>[] = [];
          const inFlight = (): number => requests.filter(({ state }) => state.isBegun && !state.isOver).length;
          for (const taken of steps) {
            if (taken.kind === 'begin') requests.push(request(slots[taken.by], taken.urgent));
            else if (taken.kind === 'end') requests[taken.which]?.end();
            else if (taken.kind === 'give-up') requests[taken.which]?.giveUp();
            else if (taken.kind === 'deliver') stage.deliver();
            await vi.advanceTimersByTimeAsync(taken.kind === 'pass' ? 100 : 0);
            expect(inFlight()).toBeLessThanOrEqual(concurrency);
          }
          const isLeft = (): boolean => requests.some(({ state }) => !state.isOver);
          for (let round = 0; round < 500 && isLeft(); round += 1) {
            await stage.advance(100, 100);
            for (const one of requests) one.end();
          }
          expect(isLeft()).toBe(false);
          vi.clearAllTimers();
        },
      ),
    );
  });

  test('change hands after each request while more processes wait than there are slots', async () => {
    const stage = createStage(['ingest', 'api', 'api']);
    const slots = stage.processes.map(({ limits }) => limits.slotsOf({ url: URL, concurrency: 1 }));
    const requests = slots.map((own) => Array.from({ length: 20 }, () => request(own, false)));
    for (let round = 0; round < 30; round += 1) {
      await stage.advance(20);
      for (const one of requests.flat()) one.end();
    }
    const ended = requests.map((own) => own.filter(({ state }) => state.isOver).length);
    expect(Math.min(...ended)).toBeGreaterThanOrEqual(8);
    expect(Math.max(...ended)).toBeLessThanOrEqual(12);
  });
});
