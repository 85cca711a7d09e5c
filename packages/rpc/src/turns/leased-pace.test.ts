import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createLeasedPace, type LeasedPace } from './leased-pace.ts';
import { createRateArbiter } from './rate-arbiter.ts';

type Message = { readonly to: 'arbiter' | 'pace'; readonly apply: () => void; readonly text: string };

/** Paces whose messages to one arbiter are under way until they are delivered, in order. */
function createStage(ratePerSecond: number, groups: readonly string[]) {
  let now = 1_000_000;
  const clock = { now: () => now };
  const arbiter = createRateArbiter(ratePerSecond, clock);
  const messages: Message[] = [];
  const send = (to: Message['to'], text: string, apply: () => void) => messages.push({ to, text, apply });
  const paces = groups.map((group) => {
    const member = arbiter.join({
      group,
      grant: (calls) => send('pace', `${group} grant ${calls}`, () => pace.granted(calls)),
    });
    const pace: LeasedPace = createLeasedPace({
      ratePerSecond,
      clock,
      member: {
        ask: (calls, urgency) => send('arbiter', `${group} ${urgency} ${calls}`, () => member.ask(calls, urgency)),
        giveBack: (calls) => send('arbiter', `${group} back ${calls}`, () => member.giveBack(calls)),
      },
    });
    return { pace, member };
  });
  return {
    paces,
    sent: [] as string[],
    /** Delivers what is under way, and what that causes. */
    deliver() {
      for (let message = messages.shift(); message !== undefined; message = messages.shift()) {
        this.sent.push(message.text);
        message.apply();
      }
    },
    async advance(ms: number) {
      now += ms;
      await vi.advanceTimersByTimeAsync(ms);
      this.deliver();
    },
  };
}

describe('a pace that is granted by somebody else', () => {
  test('lets calls go when they are granted, urgent ones first', async () => {
    vi.useFakeTimers();
    try {
      const stage = createStage(2, ['one']);
      const pace = stage.paces[0]?.pace;
      if (pace === undefined) return;
      const order: string[] = [];
      for (const name of ['a', 'b', 'c', 'd']) void pace.take(1, {})?.then(() => order.push(name));
      void pace.take(1, { urgent: true })?.then(() => order.push('urgent'));
      expect(pace.waiting).toBe(5);
      stage.deliver();
      await stage.advance(0);
      expect(order).toEqual(['urgent', 'a']);
      await stage.advance(1_000);
      await stage.advance(1_000);
      expect(order).toEqual(['urgent', 'a', 'b', 'c', 'd']);
      expect(pace.waiting).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('asks for many calls at a time in busy times, and gives back what it does not use', async () => {
    vi.useFakeTimers();
    try {
      const stage = createStage(10_000, ['one']);
      const pace = stage.paces[0]?.pace;
      if (pace === undefined) return;
      // A thousand calls a second, each by itself.
      for (let call = 0; call < 1_000; call += 1) {
        pace.take(1, {});
        await stage.advance(1);
      }
      expect(pace.waiting).toBe(0);
      expect(stage.sent.filter((text) => !text.includes('grant')).length).toBeLessThan(150);
      stage.sent.length = 0;
      await stage.advance(1_000);
      expect(stage.sent.filter((text) => text.includes('back'))).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test('takes back what it asked for when those who waited give up', async () => {
    vi.useFakeTimers();
    try {
      const stage = createStage(10, ['gone', 'other']);
      const [gone, other] = stage.paces;
      if (gone === undefined || other === undefined) return;
      const aborting = new AbortController();
      const turns = Array.from({ length: 500 }, () => gone.pace.take(1, { signal: aborting.signal }));
      stage.deliver();
      aborting.abort(new Error('given up'));
      const ends = await Promise.allSettled(turns);
      expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      expect(gone.pace.waiting).toBe(0);
      stage.deliver();
      stage.sent.length = 0;
      // The 490 are asked for no more: all that the rate allows is the other's.
      void Array.from({ length: 20 }, () => other.pace.take(1, {}));
      await stage.advance(1_000);
      expect(other.pace.waiting).toBe(10);
      expect(stage.sent.filter((text) => text.startsWith('gone'))).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('asks anew for what an urgent call takes of others, which wait for more than was granted yet', async () => {
    vi.useFakeTimers();
    try {
      const stage = createStage(5, ['one']);
      const pace = stage.paces[0]?.pace;
      if (pace === undefined) return;
      const order: string[] = [];
      for (const calls of [1, 5, 1]) void pace.take(calls, {})?.then(() => order.push(String(calls)));
      // Four of the five are there.
      stage.deliver();
      expect(pace.take(1, { urgent: true })).toBeNull();
      for (let second = 0; second < 3; second += 1) await stage.advance(1_000);
      expect(order).toEqual(['1', '5', '1']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('never lets more go than was granted, and lets everybody go in the end', async () => {
    vi.useFakeTimers();
    try {
      const step = fc.record({
        by: fc.nat(2),
        calls: fc.integer({ min: 1, max: 6 }),
        urgent: fc.boolean(),
        isGivenUp: fc.boolean(),
        after: fc.constantFrom(0, 0, 3, 40, 400),
        delivers: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 5, max: 200 }), async (steps, rate) => {
          const stage = createStage(rate, ['a', 'a', 'b']);
          const turns: Promise<unknown>[] = [];
          let passed = 0;
          let elapsed = 0;
          for (const { by, calls, urgent, isGivenUp, after, delivers } of steps) {
            const aborting = new AbortController();
            const turn = stage.paces[by]?.pace.take(calls, { urgent, signal: aborting.signal }) ?? null;
            const count = (): void => {
              passed += calls;
            };
            if (turn === null) count();
            else turns.push(turn.then(count, () => undefined));
            if (delivers) stage.deliver();
            if (isGivenUp) aborting.abort(new Error('given up'));
            if (after > 0) {
              elapsed += after;
              await stage.advance(after);
            }
            await Promise.resolve();
            expect(passed).toBeLessThanOrEqual(rate + (rate * elapsed) / 1_000 + 1e-6);
          }
          for (let round = 0; round < 200 && stage.paces.some(({ pace }) => pace.waiting > 0); round += 1)
            await stage.advance(500);
          expect(stage.paces.map(({ pace }) => pace.waiting)).toEqual([0, 0, 0]);
          await Promise.all(turns);
          vi.clearAllTimers();
        }),
        { numRuns: 500 },
      );
    } finally {
      vi.useRealTimers();
    }
  });
});
