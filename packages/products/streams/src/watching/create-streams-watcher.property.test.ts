import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChainStep, openWatchedChain, STREAMS } from './testing/watched-chain.ts';

const scratch = scratchOfFile();
let nextChain = 920_001;

const stream = fc.integer({ min: 0, max: STREAMS - 1 });
const address = fc.integer({ min: 1, max: 8 });
const step: fc.Arbitrary<ChainStep> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('follow' as const),
      back: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 6 })),
      branch: fc.integer({ min: 0, max: 1 }),
      blocks: fc.integer({ min: 1, max: 7 }),
      batch: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('watch' as const), stream, address }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unwatch' as const), stream, address }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const), stream }) },
  { weight: 2, arbitrary: fc.constant<ChainStep>({ kind: 'deliver' }) },
  { weight: 1, arbitrary: fc.constant<ChainStep>({ kind: 'restart' }) },
);

describe('matches and webhooks', () => {
  // Invariant: STREAM-OUTBOX
  it('are those of the blocks as they were followed, through reorganisations, restarts and changes of the streams', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        const chain = await openWatchedChain(scratch.database, nextChain++);
        try {
          for (const one of steps) {
            await chain.take(one);
            expect(await chain.stored()).toEqual(chain.expected());
          }
        } finally {
          await chain.close();
        }
      }),
      { numRuns: 60 },
    );
  });
});
