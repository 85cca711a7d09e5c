import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createLeasedSlots, type LeasedSlots } from './leased-slots.ts';
import { createSlotArbiter } from './slot-arbiter.ts';

/** Processes whose messages to one arbiter are under way until they are delivered, in order. */
function createStage(slots: number, groups: readonly string[]) {
  const arbiter = createSlotArbiter(slots);
  const messages: (() => void)[] = [];
  const processes = groups.map((group) => {
    const member = arbiter.join({ group, grant: (turns) => messages.push(() => leased.granted(turns)) });
    const leased: LeasedSlots = createLeasedSlots({
      ask: (turns, urgency) => messages.push(() => member.ask(turns, urgency)),
      giveBack: (turns) => messages.push(() => member.giveBack(turns)),
    });
    return { leased, member };
  });
  return {
    processes,
    deliver() {
      for (let message = messages.shift(); message !== undefined; message = messages.shift()) message();
    },
  };
}

type Stage = ReturnType<typeof createStage>;

/** A request that begins when its turn comes, and is counted until it is over. */
function request(stage: Stage, by: number, urgent: boolean) {
  const aborting = new AbortController();
  const state = { isBegun: false, isOver: false, isUrgent: urgent };
  const leased = stage.processes[by]?.leased;
  const turn = leased?.enter({ urgent, signal: aborting.signal }) ?? null;
  if (turn === null) state.isBegun = true;
  else
    void turn.then(
      () => {
        state.isBegun = true;
      },
      () => {
        state.isOver = true;
      },
    );
  return {
    state,
    giveUp: () => aborting.abort(new Error('given up')),
    end() {
      if (!state.isBegun || state.isOver) return;
      state.isOver = true;
      leased?.leave();
    },
  };
}

describe('slots that several processes share', () => {
  test('are never more than there are, keep one for what is urgent, and let everybody go in the end', async () => {
    vi.useFakeTimers();
    try {
      const step = fc.oneof(
        {
          weight: 4,
          arbitrary: fc.record({ kind: fc.constant('begin' as const), by: fc.nat(2), urgent: fc.boolean() }),
        },
        { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(30) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('give-up' as const), which: fc.nat(30) }) },
        { weight: 3, arbitrary: fc.record({ kind: fc.constant('deliver' as const) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass' as const) }) },
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.integer({ min: 2, max: 20 }), async (steps, slots) => {
          const stage = createStage(slots, ['api', 'api', 'ingest']);
          const requests: ReturnType<typeof request>[] = [];
          const inFlight = (): number => requests.filter(({ state }) => state.isBegun && !state.isOver).length;
          for (const taken of steps) {
            if (taken.kind === 'begin') requests.push(request(stage, taken.by, taken.urgent));
            else if (taken.kind === 'end') requests[taken.which]?.end();
            else if (taken.kind === 'give-up') requests[taken.which]?.giveUp();
            else if (taken.kind === 'deliver') stage.deliver();
            else await vi.advanceTimersByTimeAsync(20);
            await Promise.resolve();
            await Promise.resolve();
            expect(inFlight()).toBeLessThanOrEqual(slots);
          }
          const isLeft = (): boolean => requests.some(({ state }) => !state.isOver);
          for (let round = 0; round < 500 && isLeft(); round += 1) {
            stage.deliver();
            await vi.advanceTimersByTimeAsync(20);
            for (const one of requests) one.end();
          }
          expect(isLeft()).toBe(false);
          vi.clearAllTimers();
        }),
        { numRuns: 100 },
      );
    } finally {
      vi.useRealTimers();
    }
  });

  test('of a process that is gone are free', async () => {
    const stage = createStage(4, ['api', 'ingest']);
    const gone = Array.from({ length: 6 }, () => request(stage, 0, false));
    stage.deliver();
    await Promise.resolve();
    await Promise.resolve();
    expect(gone.filter(({ state }) => state.isBegun)).toHaveLength(3);
    const waiting = Array.from({ length: 3 }, () => request(stage, 1, false));
    stage.deliver();
    stage.processes[0]?.member.leave();
    stage.deliver();
    await Promise.resolve();
    await Promise.resolve();
    expect(waiting.filter(({ state }) => state.isBegun)).toHaveLength(3);
  });

  test('go to what is urgent when all others are taken, and in turn by role', async () => {
    const stage = createStage(2, ['api', 'api', 'ingest']);
    const first = request(stage, 0, false);
    const others = [request(stage, 0, false), request(stage, 1, false), request(stage, 2, false)];
    const urgent = request(stage, 2, true);
    stage.deliver();
    await Promise.resolve();
    await Promise.resolve();
    expect([first, ...others, urgent].map(({ state }) => state.isBegun)).toEqual([true, false, false, false, true]);
    first.end();
    stage.deliver();
    await Promise.resolve();
    await Promise.resolve();
    // Ingest had the last turn, and of the API's processes the first.
    expect(others.map(({ state }) => state.isBegun)).toEqual([false, true, false]);
  });
});
