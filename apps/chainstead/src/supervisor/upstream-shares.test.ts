import type { CallRank, ConcurrencyLimiter, RateLimiter } from '@chainstead/rpc/pool';
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
function createStage(roles: readonly RoleName[] = []) {
  const shares = createUpstreamShares();
  const messages: (() => void)[] = [];
  function start(role: RoleName) {
    const post = (deliver: () => void): void => {
      if (!own.isOver) messages.push(deliver);
    };
    const process: CallingProcess = {
      role,
      send: (message) =>
        post(() => {
          own.share = message.share;
          limits.receive(message);
        }),
    };
    const limits = createSharedLimits((message) => post(() => shares.receive(process, message)), clock);
    const own = {
      share: 0,
      limits,
      isOver: false,
      leave() {
        own.isOver = true;
        shares.left(process);
      },
    };
    return own;
  }
  const processes = roles.map(start);
  const stage = {
    processes,
    start: (role: RoleName) => processes.push(start(role)),
    sent: 0,
    /** @param most messages that may cause each other */
    deliver(most = 1_000): void {
      const before = stage.sent + messages.length;
      for (let message = messages.shift(); message !== undefined; message = messages.shift()) {
        stage.sent += 1;
        message();
        expect(stage.sent - before).toBeLessThanOrEqual(most);
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

function pacesOf(stage: ReturnType<typeof createStage>, requestsPerSecond: number): RateLimiter[] {
  return stage.processes.flatMap(({ limits }) => limits.rateLimiterOf({ url: URL, requestsPerSecond }) ?? []);
}

describe('shares of a rate', () => {
  test('go to the busy process, back to one that begins to call, and to the others when a process ends', async () => {
    const stage = createStage(['ingest', 'api', 'worker']);
    const [ingest, api] = pacesOf(stage, 100);
    await stage.advance(200);
    expect(stage.rates()).toEqual([66, 67, 67]);
    for (let call = 0; call < 2_000; call += 1) void ingest?.take(1, {});
    await stage.advance(200);
    expect(stage.rates()).toEqual([198, 1, 1]);
    for (let call = 0; call < 2_000; call += 1) void api?.take(1, {});
    await stage.advance(200);
    expect(stage.rates()).toEqual([99, 100, 1]);
    stage.processes[0]?.leave();
    await stage.advance(200);
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
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.integer({ min: 2, max: 60 }),
        async (steps, rate) => {
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
        },
      ),
      { numRuns: 20 },
    );
  });
});

/** A request that begins when its slot is there, and is counted until it is over. */
function request(slots: ConcurrencyLimiter | null | undefined, rank: CallRank) {
  const aborting = new AbortController();
  const state = { isBegun: false, isOver: false };
  void (async () => {
    try {
      await slots?.take(1, { rank, signal: aborting.signal });
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

const role = fc.constantFrom<RoleName>('api', 'ingest', 'worker');
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('begin'),
      by: fc.nat(5),
      rank: fc.constantFrom<CallRank>('head', 'follow', 'history'),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('end'), which: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('give-up'), which: fc.nat(30) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('deliver') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(10, 100, 1_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('start'), role }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave'), by: fc.nat(5) }) },
);
const script = fc.record({
  roles: fc.array(role, { minLength: 1, maxLength: 5 }),
  steps: fc.array(step, { maxLength: 80, size: 'max' }),
  concurrency: fc.integer({ min: 1, max: 20 }),
});
type Script = typeof script extends fc.Arbitrary<infer Value> ? Value : never;

/** What processes do, while no more requests are in flight than may be, and few messages cause each other. */
async function play({ roles, steps, concurrency }: Script) {
  const stage = createStage(roles);
  const requests: (ReturnType<typeof request> & { readonly of: (typeof stage.processes)[number] })[] = [];
  const left = () => requests.filter(({ of, state }) => !of.isOver && !state.isOver);
  for (const taken of steps) {
    const by = 'by' in taken ? stage.processes[taken.by] : undefined;
    if (taken.kind === 'begin' && by !== undefined && !by.isOver)
      requests.push({
        of: by,
        ...request(by.limits.concurrencyLimiterOf({ url: URL, concurrency }), taken.rank),
      });
    else if (taken.kind === 'end') requests[taken.which]?.end();
    else if (taken.kind === 'give-up') requests[taken.which]?.giveUp();
    else if (taken.kind === 'deliver') stage.deliver(4 * (concurrency + stage.processes.length));
    else if (taken.kind === 'start') stage.start(taken.role);
    else if (taken.kind === 'leave') by?.leave();
    await vi.advanceTimersByTimeAsync(taken.kind === 'pass' ? taken.ms : 0);
    expect(left().filter(({ state }) => state.isBegun).length).toBeLessThanOrEqual(concurrency);
  }
  return { stage, left };
}

describe('shares of requests in flight', () => {
  test('are never more than there are, also with more processes than slots, and let everybody go in the end', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (given) => {
        const { stage, left } = await play(given);
        for (let round = 0; round < 100 && left().length > 0; round += 1) {
          await stage.advance(100, 100);
          for (const one of left()) one.end();
        }
        expect(left()).toEqual([]);
        vi.clearAllTimers();
      }),
    );
  });

  test('cost no message while the demand stays as it is, whatever happened before', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (given) => {
        const { stage } = await play(given);
        await stage.advance(3_000, 100);
        stage.sent = 0;
        await stage.advance(10_000, 100);
        expect(stage.sent).toBe(0);
        vi.clearAllTimers();
      }),
    );
  });

  test('leave a busy process all but one slot of each idle one, however many slots there are', async () => {
    for (let concurrency = 1; concurrency <= 100; concurrency += 1) {
      const stage = createStage(['api', 'ingest', 'worker']);
      const slots = stage.processes.map(({ limits }) => limits.concurrencyLimiterOf({ url: URL, concurrency }));
      const requests = Array.from({ length: concurrency }, () => request(slots[1], 'follow'));
      await stage.advance(1_000, 100);
      const begun = requests.filter(({ state }) => state.isBegun).length;
      expect(begun).toBe(concurrency < 3 ? concurrency : concurrency - 2);
      if (concurrency >= 3) expect(slots[0]?.take(1, {})).toBeNull();
      vi.clearAllTimers();
    }
  });

  test('change hands while more processes wait than there are slots', async () => {
    const stage = createStage(['ingest', 'api', 'api']);
    const slots = stage.processes.map(({ limits }) => limits.concurrencyLimiterOf({ url: URL, concurrency: 1 }));
    const requests = slots.map((own) => Array.from({ length: 20 }, () => request(own, 'history')));
    for (let round = 0; round < 30; round += 1) {
      await stage.advance(20);
      for (const one of requests.flat()) one.end();
    }
    const ended = requests.map((own) => own.filter(({ state }) => state.isOver).length);
    expect(Math.min(...ended)).toBeGreaterThanOrEqual(8);
    expect(Math.max(...ended)).toBeLessThanOrEqual(12);
  });
});
