import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleChain } from '../example-chain.ts';
import { decodeNftMovements } from './decode-nft-movements.ts';
import { ALICE, BOB, batchLog, consecutiveLog, erc721Log, singleLog } from './example-logs.ts';
import { movementsMax } from './movements-max.ts';

const numbers = fc.array(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), { maxLength: 300 });
const logs = fc.oneof(
  fc.constantFrom(erc721Log(ALICE, BOB, 1n), singleLog(ALICE, BOB, 1n, 2n)),
  numbers.map((ids) => batchLog(ALICE, BOB, ids, ids)),
  fc
    .tuple(fc.nat(200), fc.integer({ min: -2, max: 400 }))
    .map(([id, more]) => consecutiveLog(BigInt(id + 2), BigInt(id + 2 + more))),
  fc.constantFrom(consecutiveLog(0n, 49_999n), consecutiveLog(0n, 50_000n), consecutiveLog(0n, 2n ** 256n - 1n)),
);

test('is never less than what is decoded, and of the same order', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const decoded = decodeNftMovements([log], exampleChain()).movements.length;
      expect(movementsMax(log)).toBeGreaterThanOrEqual(decoded);
      expect(movementsMax(log)).toBeLessThanOrEqual(decoded + 4);
    }),
  );
});
