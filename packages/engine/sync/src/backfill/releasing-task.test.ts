import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import PQueue from 'p-queue';
import { describe, expect, it } from 'vitest';
import { releasing } from './chunk-work.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('a task that lets its item go', () => {
  it('gives the item to its first run only', async () => {
    const seen: object[] = [];
    const item = { block: 1 };
    const task = releasing(item, async (given) => {
      seen.push(given);
    });
    await task();
    await task();
    expect(seen).toEqual([item]);
  });

  it('leaves nothing of what is done in a queue that never runs dry', async () => {
    const queue = new PQueue({ concurrency: 1 });
    const references: WeakRef<object>[] = [];
    const gates = Array.from({ length: 20 }, () => Promise.withResolvers<void>());
    for (const gate of gates) {
      const item = { lines: new Array(1_000).fill('line') };
      references.push(new WeakRef(item));
      void queue.add(releasing(item, () => gate.promise));
    }
    for (const gate of gates.slice(0, 15)) gate.resolve();
    await expect.poll(() => queue.size).toBe(4);
    collectGarbage();
    const kept = references.slice(0, 15).filter((reference) => reference.deref() !== undefined);
    expect(kept).toEqual([]);
    for (const gate of gates) gate.resolve();
    await queue.onIdle();
  });
});
