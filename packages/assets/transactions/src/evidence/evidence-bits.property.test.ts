import { atDepth } from '@chainstead/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Evidence } from './evidence.ts';
import { evidenceBits, readEvidenceBits } from './token-evidence.ts';

// Every kind, so that none is missing in the bits.
const KINDS = Object.keys({
  ...{
    wrap: 0,
    unwrap: 0,
    calledUnwrapped: 0,
    supply: 0,
    takeBack: 0,
    borrow: 0,
    repay: 0,
    stake: 0,
    unstake: 0,
  },
  ...{
    claim: 0,
    liquidityAdd: 0,
    liquidityRemove: 0,
    shareMinted: 0,
    handedOut: 0,
    handedOutEqually: 0,
    bridge: 0,
  },
} satisfies Record<Evidence, number>) as Evidence[];

test('what is stored of logs is read back, in an integer of Postgres', () => {
  const stored = fc.record({
    evidence: fc.subarray(KINDS).map((said) => new Set(said)),
    approvesTokens: fc.boolean(),
    approvesOtherwise: fc.boolean(),
  });
  fc.assert(
    fc.property(stored, (given) => {
      const bits = evidenceBits(given);
      expect(readEvidenceBits(bits)).toEqual(given);
      expect(bits).toBeGreaterThanOrEqual(0);
      expect(bits).toBeLessThan(2 ** 31);
    }),
    { numRuns: atDepth(500) },
  );
});
