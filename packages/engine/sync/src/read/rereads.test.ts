import type { ProofPolicy } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import type { JsonObject } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import type { BlockPart } from '../dataset/whole-block.ts';
import { edit, type Lie, NUMBER, readFrom, serve, strict, TRUE_RECEIPTS } from '../testing/lying-block.ts';
import { createRereads, type Rereads } from './rereads.ts';

const waits = (): { readonly clock: Clock; readonly slept: number[] } => {
  const slept: number[] = [];
  return { slept, clock: { now: () => 0, sleep: async (ms) => void slept.push(ms) } };
};

async function readAgain(lie: Lie, policy: ProofPolicy, rereads: Rereads | undefined, part: BlockPart = 'logs') {
  const nodes = [await serve(lie)];
  return readFrom(nodes, NUMBER, { chain: strict, policy, parts: new Set([part]), rereads });
}

describe('a block whose receipts come without logs at first', () => {
  /** Returns the true receipts only after this many responses. */
  const late = (answers: number): Lie => {
    let left = answers;
    const isReported = ([first]: readonly JsonObject[]): boolean =>
      first?.transactionHash === TRUE_RECEIPTS[0]?.transactionHash;
    return {
      receipts: (list) => (isReported(list) && left-- > 0 ? list.map((one) => ({ ...one, logs: [] })) : list),
    };
  };
  it.each(['strict', 'record'] as const)(
    'is read again until it proves itself, under the policy %s',
    async (policy) => {
      const { clock, slept } = waits();
      const { block, faults } = await readAgain(late(3), policy, createRereads(clock));
      expect(block?.level).toBe('receipts');
      expect(block?.logs.length).toBeGreaterThan(0);
      expect(slept).toEqual([100, 200, 400]);
      expect(faults['receipts-root-mismatch']).toBe(1);
    },
  );

  it('is unproven in the end where the upstream stays with it', async () => {
    const { clock, slept } = waits();
    const { block } = await readAgain(late(1_000), 'record', createRereads(clock));
    expect(block).toMatchObject({ level: 'unproven', reason: 'root-mismatch' });
    expect(slept).toEqual([100, 200, 400, 800, 1_600]);
    await expect(readAgain(late(1_000), 'strict', createRereads(clock))).rejects.toMatchObject({
      code: 'UNPROVEN_BLOCK',
    });
  });

  it('is read once where nobody waits for it', async () => {
    const { block } = await readAgain(late(1), 'record', undefined);
    expect(block?.level).toBe('unproven');
  });

  it('is not waited for under the policy record where its bloom says that no log is missing', async () => {
    const { clock, slept } = waits();
    const otherStatus = (list: readonly JsonObject[]) => edit(0, { cumulativeGasUsed: '0x1' })(list);
    const { block } = await readAgain({ receipts: otherStatus }, 'record', createRereads(clock));
    expect(block?.level).toBe('unproven');
    expect(slept).toEqual([]);
  });
});

describe('a block whose transactions contradict themselves at first', () => {
  const late = (answers: number): Lie => {
    let left = answers;
    return { transactions: (list) => (left-- > 0 ? edit(0, { value: '0x1' })(list) : list) };
  };

  it.each(['strict', 'record'] as const)(
    'is read again until it proves itself, under the policy %s',
    async (policy) => {
      const { clock, slept } = waits();
      const { block, faults } = await readAgain(late(2), policy, createRereads(clock), 'transactions');
      expect(block?.parts.transactions).toEqual({ level: 'receipts', reason: null });
      expect(slept).toEqual([100, 200]);
      expect(faults).toEqual({ 'transaction-hash-mismatch': 1 });
    },
  );
});

describe('a chain on which no reading helps', () => {
  const silent: Lie = { receipts: (list) => list.map((one) => ({ ...one, logs: [] })) };

  it('waits for three blocks, and not any more until one proves itself', async () => {
    const { clock, slept } = waits();
    const rereads = createRereads(clock);
    for (let blocks = 0; blocks < 4; blocks++) await readAgain(silent, 'record', rereads);
    expect(slept).toHaveLength(15);
    expect((await readAgain({}, 'record', rereads)).block?.level).toBe('receipts');
    await readAgain(silent, 'record', rereads);
    expect(slept).toHaveLength(20);
  });

  it('waits for each block that may not be stored unproven', async () => {
    const { clock, slept } = waits();
    const rereads = createRereads(clock);
    for (let blocks = 0; blocks < 4; blocks++)
      await expect(readAgain(silent, 'strict', rereads)).rejects.toMatchObject({ code: 'UNPROVEN_BLOCK' });
    expect(slept).toHaveLength(20);
  });
});
