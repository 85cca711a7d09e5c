/** Arbitrary writes to a chain's stored blocks. */
import fc from 'fast-check';
import { LAST_BACKFILLED, type Step } from './marked-chain.ts';

const someBlocks = fc
  .tuple(fc.integer({ min: 1, max: LAST_BACKFILLED }), fc.integer({ min: 1, max: LAST_BACKFILLED }))
  .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));
const dropEvery = fc.constantFrom(0, 0, 3, 5);
/** Steps on historical blocks, which may run concurrently. */
const onHistory: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('backfill' as const), range: someBlocks, dropEvery }),
  fc.record({ kind: fc.constant('reindex' as const), range: someBlocks, dropEvery }),
  fc.record({ kind: fc.constant('verify' as const), range: someBlocks }),
  fc.record({ kind: fc.constant('subject' as const), range: someBlocks, wallet: fc.integer({ min: 0, max: 5 }) }),
);
const onHead: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('follow' as const), blocks: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 6 }) }),
);

/** Concurrent steps: several on historical blocks, one at the head. */
export const someMoment: fc.Arbitrary<readonly Step[]> = fc
  .tuple(fc.array(onHistory, { maxLength: 3 }), fc.option(onHead))
  .map(([history, head]) => (head === null ? history : [...history, head]));
