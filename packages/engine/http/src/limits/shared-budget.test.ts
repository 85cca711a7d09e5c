import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Company,
  createSharedBudget,
  type SharedBudget,
  SLOTS,
  type SlotSpending,
  unreportedMax,
} from './shared-budget.ts';

const START = 1_700_000_000_000;
const WINDOW_MS = 1_600;
const SLOT_MS = WINDOW_MS / SLOTS;
const TOGETHER: Company = { share: 1, hasOthers: true };

/** An in-process store: adds up reports by slot. */
function createLedger() {
  const spent = new Map<number, number>();
  return {
    add(amount: number, now: number): SlotSpending[] {
      const slot = Math.floor(now / SLOT_MS);
      spent.set(slot, (spent.get(slot) ?? 0) + amount);
      return [...spent].filter(([at]) => at > slot - SLOTS).map(([at, of]) => ({ slot: at, amount: of }));
    },
  };
}

/** A process: its budget, and a report on its way to the store or a response on its way back. */
interface Member {
  readonly budget: SharedBudget;
  report: number | null;
  answer: readonly SlotSpending[] | null;
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('spend' as const),
      by: fc.nat(4),
      amount: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('send' as const, 'arrive' as const, 'answer' as const),
      by: fc.nat(4),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('lose' as const), by: fc.nat(4) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 400 }) }),
  },
);

describe('a budget that several processes share', () => {
  test('is exceeded by a block for each process at most, whatever is under way', () => {
    const given = fc.record({
      budget: fc.integer({ min: 3, max: 100 }),
      members: fc.integer({ min: 1, max: 5 }),
      steps: fc.array(step, { maxLength: 400 }),
    });
    fc.assert(
      fc.property(given, ({ budget, members, steps }) => {
        const ledger = createLedger();
        const all: Member[] = Array.from({ length: members }, () => ({
          budget: createSharedBudget({ bucket: 'one', budget, windowMs: WINDOW_MS }),
          report: null,
          answer: null,
        }));
        let accepted = 0;
        for (const one of steps) {
          // Time is fixed: all accepted spending is in one window.
          if (one.kind === 'pass') continue;
          const member = all[one.by % members];
          if (member === undefined) continue;
          if (one.kind === 'spend' && member.budget.waitFor(one.amount, START, TOGETHER) === 0) {
            member.budget.spend(one.amount, START);
            accepted += one.amount;
          } else if (one.kind !== 'spend') deliver(member, one.kind, ledger, START);
        }
        const block = Math.max(unreportedMax(budget), 3);
        expect(accepted).toBeLessThanOrEqual(budget + members * block);
      }),
      { numRuns: 500 },
    );
  });

  test('is all there for a single process, and not a unit more', () => {
    const given = fc.record({
      budget: fc.integer({ min: 1, max: 200 }),
      steps: fc.array(step, { maxLength: 400 }),
    });
    fc.assert(
      fc.property(given, ({ budget, steps }) => {
        const ledger = createLedger();
        const one = {
          budget: createSharedBudget({ bucket: 'one', budget, windowMs: WINDOW_MS }),
          report: null,
          answer: null,
        };
        let accepted = 0;
        for (const { kind } of steps) {
          if (kind !== 'spend' && kind !== 'pass') deliver(one, kind, ledger, START);
          if (one.budget.waitFor(1, START, TOGETHER) !== 0) continue;
          one.budget.spend(1, START);
          accepted += 1;
        }
        while (accepted < budget) {
          // An exchange in flight ends in the first round.
          for (const kind of ['send', 'arrive', 'answer', 'send', 'arrive', 'answer'] as const)
            deliver(one, kind, ledger, START);
          expect(one.budget.waitFor(1, START, TOGETHER)).toBe(0);
          one.budget.spend(1, START);
          accepted += 1;
        }
        expect(accepted).toBe(budget);
        expect(one.budget.waitFor(1, START, TOGETHER)).toBeGreaterThan(0);
      }),
    );
  });

  test('never comes to a standstill: once everything is told, so much may be spent or a wait is told', () => {
    const given = fc.record({
      budget: fc.integer({ min: 1, max: 40 }),
      steps: fc.array(step, { maxLength: 300 }),
    });
    fc.assert(
      fc.property(given, ({ budget, steps }) => {
        const ledger = createLedger();
        const one: Member = {
          budget: createSharedBudget({ bucket: 'one', budget, windowMs: WINDOW_MS }),
          report: null,
          answer: null,
        };
        let now = START;
        for (const taken of steps) {
          if (taken.kind === 'pass') now += taken.ms;
          else if (taken.kind !== 'spend') deliver(one, taken.kind, ledger, now);
          else if (one.budget.waitFor(taken.amount, now, TOGETHER) === 0) one.budget.spend(taken.amount, now);
        }
        for (let round = 0; round < 2; round += 1)
          for (const kind of ['send', 'arrive', 'answer'] as const) deliver(one, kind, ledger, now);
        const wait = one.budget.waitFor(1, now, TOGETHER);
        expect(wait).not.toBeNull();
        expect(one.budget.waitFor(1, now + (wait ?? 0), TOGETHER)).toBe(0);
      }),
    );
  });

  test('is divided while the others can not be asked, and then nobody waits for them', () => {
    const budget = createSharedBudget({ bucket: 'one', budget: 100, windowMs: WINDOW_MS });
    const alone: Company = { share: 1 / 4, hasOthers: false };
    let accepted = 0;
    while (budget.waitFor(1, START, alone) === 0) {
      budget.spend(1, START);
      accepted += 1;
    }
    expect(accepted).toBe(25);
    // Spending that expired before the store's return is not reported.
    expect(budget.takeUnreported(START + WINDOW_MS)).toBe(0);
  });

  test('lets something pass that costs more than a block', () => {
    const budget = createSharedBudget({ bucket: 'one', budget: 100, windowMs: WINDOW_MS });
    expect(budget.waitFor(50, START, TOGETHER)).toBe(0);
    budget.spend(50, START);
    expect(budget.waitFor(1, START, TOGETHER)).toBeNull();
    expect(budget.takeUnreported(START)).toBe(50);
    budget.reported([{ slot: START / SLOT_MS, amount: 100 }], START);
    expect(budget.waitFor(1, START, TOGETHER)).toBe(WINDOW_MS);
  });

  test('counts what was spent while it was told of on top of the answer', () => {
    const budget = createSharedBudget({ bucket: 'one', budget: 100, windowMs: WINDOW_MS });
    budget.spend(3, START);
    expect(budget.takeUnreported(START)).toBe(3);
    budget.spend(2, START);
    budget.reported([{ slot: START / SLOT_MS, amount: 95 }], START);
    expect(budget.waitFor(3, START, TOGETHER)).toBe(0);
    expect(budget.waitFor(4, START, TOGETHER)).toBe(WINDOW_MS);
    expect(budget.takeUnreported(START)).toBe(2);
    budget.notReported();
    expect(budget.takeUnreported(START)).toBe(2);
  });
});

/** Moves a member's report one step: to the store, through it, back; or loses it on the way there. */
function deliver(
  member: Member,
  kind: 'send' | 'arrive' | 'answer' | 'lose',
  ledger: ReturnType<typeof createLedger>,
  now: number,
): void {
  if (kind === 'send' && member.report === null && member.answer === null)
    member.report = member.budget.takeUnreported(now);
  else if (kind === 'arrive' && member.report !== null) {
    member.answer = ledger.add(member.report, now);
    member.report = null;
  } else if (kind === 'answer' && member.answer !== null) {
    member.budget.reported(member.answer, now);
    member.answer = null;
  } else if (kind === 'lose' && member.report !== null) {
    member.budget.notReported();
    member.report = null;
  }
}
