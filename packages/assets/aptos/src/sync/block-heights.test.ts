import { createAptosLedger } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { parseTransaction } from '../fullnode/read-page.ts';
import type { AptosTransaction } from '../transaction.ts';
import { createBlockHeights } from './read-range.ts';

const NEVER = new AbortController().signal;
const LEDGER = createAptosLedger({ transactions: [], head: 1_000 });

function transactions(from: number, to: number): AptosTransaction[] {
  return Array.from({ length: to - from + 1 }, (_, index) =>
    parseTransaction(JSON.parse(LEDGER.transaction(from + index).toString('utf8'))),
  );
}

/** Heights that record the versions they had to request. */
function open() {
  const requested: number[] = [];
  const heights = createBlockHeights({
    block: async (version) => {
      requested.push(version);
      return LEDGER.blockOf(version);
    },
  });
  return { requested, heights };
}

describe('block heights', () => {
  it('are those of the blocks, and only what comes before the first beginning is asked for', async () => {
    const { requested, heights } = open();
    for (const [from, to] of [
      [15, 44],
      [45, 47],
      [48, 130],
    ] as const) {
      const heightOf = await heights.ofPage(transactions(from, to), NEVER);
      for (let version = from; version <= to; version++)
        expect(heightOf(version), String(version)).toBe(LEDGER.blockOf(version).height);
    }
    expect(requested).toEqual([15]);
  });

  it('are not asked for where a page begins with a block', async () => {
    const { requested, heights } = open();
    expect((await heights.ofPage(transactions(21, 30), NEVER))(25)).toBe(3);
    expect(requested).toEqual([]);
  });

  it('are 0 in genesis', async () => {
    const { heights } = open();
    const heightOf = await heights.ofPage(transactions(0, 12), NEVER);
    expect([heightOf(0), heightOf(1), heightOf(11)]).toEqual([0, 1, 2]);
  });

  it('are read from the resource, or asked for, where the event does not tell', async () => {
    const [start] = transactions(31, 31);
    if (start === undefined) throw new Error('There is no such version');
    const change = {
      type: 'write_resource',
      data: { type: '0x1::block::BlockResource', data: { height: '77' } },
    };
    const { requested, heights } = open();
    const heightOf = await heights.ofPage([{ ...start, events: [], changes: [change] }], NEVER);
    expect(heightOf(35)).toBe(77);
    expect(requested).toEqual([]);
    expect((await heights.ofPage([{ ...start, events: [], changes: [] }], NEVER))(31)).toBe(4);
    expect(requested).toEqual([31]);
  });
});
