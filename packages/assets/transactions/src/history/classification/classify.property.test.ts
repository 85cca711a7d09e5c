import { atDepth } from '@chainstead/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EVIDENCE } from '../../evidence/evidence.ts';
import { APES, BOB, CARDS, DAI, exampleCase, ME, NOBODY, ROUTER, USDC, VAULT } from '../testing/example-case.ts';
import { CATEGORIES, type WalletTransaction } from './classification-features.ts';
import { classify } from './decision-table.ts';

const other = fc.constantFrom(BOB, ROUTER, VAULT, NOBODY);
const sides = fc
  .tuple(other, fc.boolean())
  .map(([party, isOut]) => (isOut ? { from: ME, to: party } : { from: party, to: ME }));
const coins = fc.array(
  fc
    .record({ side: sides, value: fc.bigInt(1n, 3n), isInternal: fc.boolean() })
    .map(({ side, ...leg }) => ({ ...side, ...leg })),
  { maxLength: 2 },
);
const tokens = fc.array(
  fc
    .record({
      side: sides,
      token: fc.constantFrom(USDC, DAI, VAULT),
      value: fc.bigInt(1n, 3n),
      logIndex: fc.nat(500),
    })
    .map(({ side, ...leg }) => ({ ...side, ...leg })),
  { maxLength: 4 },
);
const nfts = fc.array(
  fc
    .record({
      side: sides,
      token: fc.constantFrom(APES, CARDS),
      operator: fc.constantFrom(null, ME, BOB),
      logIndex: fc.nat(500),
    })
    .map(({ side, ...leg }) => ({ ...side, ...leg, tokenId: '1', amount: 1n })),
  { maxLength: 2 },
);
const evidence = fc.subarray([...EVIDENCE]);
const transaction: fc.Arbitrary<WalletTransaction> = fc
  .record({
    from: fc.constantFrom(ME, BOB),
    to: fc.constantFrom(ME, ROUTER, VAULT, null),
    method: fc.constantFrom(null, 'stake', 'withdraw', 'airdrop', 'transfer'),
    isTraced: fc.boolean(),
    approvals: fc.array(fc.record({ isGranted: fc.boolean() }), { maxLength: 2 }),
    evidence: evidence.map((said) => new Set(said)),
    coins,
    tokens,
    nfts,
  })
  .map((given) => exampleCase(given));

/** Legs or approvals that can determine a category. */
function counts({ coins: some, tokens: others, nfts: more, approvals }: WalletTransaction): boolean {
  return some.length + others.length + more.length + approvals.length > 0;
}

const RUNS = atDepth(1_000);

test('every transaction has one of the known categories', () => {
  fc.assert(
    fc.property(transaction, (given) => {
      expect(CATEGORIES).toContain(classify(given).category);
    }),
    { numRuns: RUNS },
  );
});

test('the order in which legs are given changes nothing', () => {
  fc.assert(
    fc.property(transaction, (given) => {
      const turned = {
        ...given,
        coins: given.coins.toReversed(),
        tokens: given.tokens.toReversed(),
        nfts: given.nfts.toReversed(),
      };
      expect(classify(turned)).toEqual(classify(given));
    }),
    { numRuns: RUNS },
  );
});

test('legs to oneself and transfers of nothing change no category', () => {
  const idle = fc.record({ token: fc.constantFrom(USDC, DAI), logIndex: fc.nat(500) });
  fc.assert(
    fc.property(
      transaction.filter(counts),
      fc.array(idle, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      (given, legs, isSelf) => {
        const added = legs.map((leg) =>
          isSelf ? { ...leg, from: ME, to: ME, value: 7n } : { ...leg, from: BOB, to: ME, value: 0n },
        );
        const self = isSelf
          ? [
              {
                ...added[0],
                token: APES,
                from: ME,
                to: ME,
                logIndex: 1,
                tokenId: '1',
                amount: 1n,
                operator: null,
              },
            ]
          : [];
        const more = { ...given, tokens: [...given.tokens, ...added], nfts: [...given.nfts, ...self] };
        expect(classify(more).category).toBe(classify(given).category);
      },
    ),
    { numRuns: RUNS },
  );
});
