import fc from 'fast-check';
import { expect, test } from 'vitest';
import { largestThatWorks } from './node-probe.ts';

test('the largest number that works is found to a tenth, in few steps', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 100_000 }),
      fc.integer({ min: 1, max: 100_000 }),
      async (largest, more) => {
        let tries = 0;
        const found = await largestThatWorks({ works: 0, fails: largest + more, steps: 40 }, async (value) => {
          tries++;
          return value <= largest;
        });
        expect(found).toBeLessThanOrEqual(largest);
        expect(found).toBeGreaterThanOrEqual(Math.floor(largest / 1.1) - 1);
        expect(tries).toBeLessThanOrEqual(40);
      },
    ),
  );
});
