import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createChunkSizing } from './chunk-size.ts';

const OPTIONS = { logsPerChunk: 1000, blocksFirst: 10, blocksMax: 5000 };

describe('createChunkSizing', () => {
  it('grows over empty blocks up to the cap, in steps', () => {
    const sizing = createChunkSizing(OPTIONS);
    const sizes: number[] = [];
    for (let step = 0; step < 8; step++) {
      sizing.seen(sizing.next(), 0);
      sizes.push(sizing.next());
    }
    expect(sizes.slice(0, 3)).toEqual([40, 160, 640]);
    expect(sizes.at(-1)).toBe(5000);
  });

  it('settles where a chunk holds the wanted number of logs', () => {
    const sizing = createChunkSizing(OPTIONS);
    for (let step = 0; step < 10; step++) sizing.seen(sizing.next(), sizing.next() * 25);
    expect(sizing.next()).toBe(40);
  });

  it('never leaves 1..cap, whatever was seen', () => {
    const seen = fc.record({
      blocks: fc.integer({ min: 1, max: 10_000 }),
      logs: fc.integer({ min: 0, max: 1_000_000 }),
    });
    fc.assert(
      fc.property(fc.array(seen), (history) => {
        const sizing = createChunkSizing(OPTIONS);
        for (const one of history) sizing.seen(one.blocks, one.logs);
        expect(sizing.next()).toBeGreaterThanOrEqual(1);
        expect(sizing.next()).toBeLessThanOrEqual(OPTIONS.blocksMax);
      }),
    );
  });
});
