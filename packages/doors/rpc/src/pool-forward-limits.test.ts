import { describe, expect, test, vi } from 'vitest';
import type { RawCall, RawResult } from './forwarding-pool.ts';
import type { Scripted, ScriptedNode } from './testing/scripted-node.ts';
import { errorOf, node, startedPool } from './testing/test-pool.ts';

const GAS_PRICE: RawCall = { method: 'eth_gasPrice', params: '[]', nullable: false, block: null };

function only(method: string, answer: Scripted): ScriptedNode['script'] {
  return (call) => (call.method === method ? answer : undefined);
}

function textOf(result: RawResult): string {
  if (!Buffer.isBuffer(result)) throw new Error('it came in pieces');
  return result.toString();
}

describe('where an upstream allows few requests at once', () => {
  test('the others wait, and those that are given up while they wait are not sent', async () => {
    const one = await node(100);
    const pool = await startedPool([{ url: one.url, concurrency: 2 }], { limits: { attemptTimeoutMs: 20_000 } });
    let most = 0;
    const held: (() => void)[] = [];
    one.script = async ({ method }) => {
      if (method !== 'eth_gasPrice') return undefined;
      most = Math.max(most, one.open);
      await new Promise<void>((resolve) => held.push(resolve));
      return { result: '0x1' };
    };
    const controller = new AbortController();
    const kept = Array.from({ length: 6 }, () => pool.forward(GAS_PRICE));
    const dropped = Array.from({ length: 6 }, () =>
      errorOf(pool.forward(GAS_PRICE, { signal: controller.signal })),
    );
    await vi.waitFor(() => expect(held).toHaveLength(2));
    controller.abort();
    for (const error of await Promise.all(dropped)) expect(error).toMatchObject({ code: 'REQUEST_ABORTED' });
    for (let done = 0; done < 6; done++) {
      await vi.waitFor(() => expect(held.length).toBeGreaterThan(0));
      held.shift()?.();
    }
    for (const { value } of await Promise.all(kept)) expect(textOf(value)).toBe('"0x1"');
    expect(one.count('eth_gasPrice')).toBe(6);
    expect(most).toBe(2);
  });

  test('ten thousand wait in little memory, and all are answered', async () => {
    const one = await node(100);
    const pool = await startedPool([one], { limits: { attemptTimeoutMs: 120_000, deadlineMs: 120_000 } });
    const gate = Promise.withResolvers<void>();
    one.script = async ({ method }) => {
      if (method !== 'eth_gasPrice') return undefined;
      await gate.promise;
      return { result: '0x1' };
    };
    const before = process.memoryUsage().heapUsed;
    const calls = Array.from({ length: 10_000 }, () => pool.forward(GAS_PRICE, { hedge: true }));
    await vi.waitFor(() => expect(one.open).toBe(64), 20_000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
    gate.resolve();
    for (const { value } of await Promise.all(calls)) expect(textOf(value)).toBe('"0x1"');
  });

  test('no more wait than are allowed to', async () => {
    const one = await node(100);
    const pool = await startedPool([{ url: one.url, concurrency: 1 }], {
      limits: { attemptTimeoutMs: 20_000, forwardWaitingMax: 3, deadlineMs: 50 },
    });
    one.script = only('eth_gasPrice', 'hang');
    const controller = new AbortController();
    const given = { signal: controller.signal };
    const inside = Array.from({ length: 4 }, () => errorOf(pool.forward(GAS_PRICE, given)));
    expect(String(await errorOf(pool.forward(GAS_PRICE, given)))).toContain('3 calls wait already');
    controller.abort();
    await Promise.all(inside);
  });
});
