import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { addressOf, atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ALICE, type BalanceStage, BOB, GOLD, openBalanceStage } from '../balances/testing/balance-stage.ts';
import { misCounted } from '../balances/testing/mis-counted.ts';
import {
  type OnChainOptions,
  someAge,
  someKill,
  someOnChain,
  takeOnChain,
} from '../balances/testing/random-history.ts';
import type { Move } from '../balances/testing/token-chain.ts';

const scratch = scratchOfFile();
let nextChain = 1_510_001;

const COIN = addressOf(0xc014);
const TOKENS: readonly Address[] = [COIN, GOLD];

const someone = fc.constantFrom(ALICE, BOB);
const someMove: fc.Arbitrary<Move> = fc
  .record({
    token: fc.constantFrom(COIN, COIN, COIN, GOLD),
    from: fc.oneof(fc.constant(ZERO_ADDRESS), someone),
    to: fc.oneof({ weight: 1, arbitrary: fc.constant(ZERO_ADDRESS) }, { weight: 2, arbitrary: someone }),
    value: fc.bigInt({ min: 0n, max: 100n }),
  })
  // Excludes moves from and to the zero address.
  .filter(({ from, to }) => from !== ZERO_ADDRESS || to !== ZERO_ADDRESS);
const isGiven: OnChainOptions['isGiven'] = ({ from }) => from === ZERO_ADDRESS;
const someMoves = fc.array(someMove, { maxLength: 4 });
const someAsk = fc.record({
  kind: fc.constant('ask' as const),
  wallet: someone,
  tokens: fc.option(fc.constant([COIN]), { freq: 4 }),
  blocksBack: fc.option(fc.integer({ min: 0, max: 12 })),
});
const someStep = fc.oneof(
  { weight: 4, arbitrary: someOnChain(someMoves) },
  { weight: 4, arbitrary: someAsk },
  { weight: 1, arbitrary: someAge },
  // Switches to another program version or other settings, and back.
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('switch' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fill' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('backfill' as const) }) },
  { weight: 1, arbitrary: someKill },
);
type Ask = typeof someAsk extends fc.Arbitrary<infer T> ? T : never;

/**
 * @param isSteady whether the token was indexed all the time: otherwise an earlier read may stand for the current
 * balance
 */
async function ask(stage: BalanceStage, { wallet, tokens, blocksBack }: Ask, isSteady: boolean): Promise<void> {
  const toBlock = blocksBack === null ? null : Math.max(0, stage.tokens.head.number - blocksBack);
  const reported = await stage.report({ wallet, tokens, toBlock }).catch((error: unknown) => {
    // Once the worker is killed, balances of the past that only nodes have are unavailable.
    if (stage.dieAfter === null || !(error instanceof StateUnavailableError)) throw error;
    return null;
  });
  if (reported === null) return;
  for (const { token, balance, balanceBlock } of reported.balances)
    expect({ token, balanceBlock, balance }).toEqual({
      token,
      balanceBlock,
      balance: stage.tokens.balance(token, wallet, balanceBlock),
    });
  for (const kind of Object.values(await stage.classes())) expect(kind).toBe('sum');
  const newest = reported.indexed.toBlock ?? 0;
  const block = Math.min(toBlock ?? newest, newest);
  if (!reported.isComplete) return;
  for (const token of tokens ?? TOKENS)
    if (stage.tokens.balance(token, wallet, block) > 0n && (token !== COIN || isSteady))
      expect(reported.balances.map((one) => one.token)).toContain(token);
}

test(
  'what is shown of the wrapped coin is what its contract holds, whatever of it is indexed, and whatever happens',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someMoves, { maxLength: 5 }),
        fc.boolean(),
        fc.array(someStep, { minLength: 3, maxLength: 16 }),
        async (history, isCoinIndexed, steps) => {
          const given = history.map((moves) => moves.filter(isGiven));
          const stage = await openBalanceStage(scratch.database, {
            chainId: nextChain++,
            history: given,
            facts: { wrappedNative: COIN },
            isCoinIndexed,
          });
          const firstFollowed = given.length === 0 ? 0 : given.length + 1;
          try {
            await stage.mine();
            let isFilled = given.length === 0;
            let isSteady = isCoinIndexed;
            for (const step of steps) {
              if (step.kind === 'switch') isSteady = false;
              if (step.kind === 'ask') await ask(stage, step, isSteady);
              else if (step.kind === 'age') await stage.age(step.hours);
              else if (step.kind === 'switch') stage.isCoinIndexed = !stage.isCoinIndexed;
              else if (step.kind === 'fill') await stage.backfillCoin();
              else if (step.kind === 'backfill') {
                if (!isFilled) await stage.backfill();
                isFilled = true;
              } else if (step.kind !== 'kill') await takeOnChain(stage, step, { firstFollowed, isGiven });
              stage.dieAfter = step.kind === 'kill' ? step.statements : null;
              expect(await misCounted(stage)).toEqual([]);
            }
          } finally {
            await stage.close();
          }
        },
      ),
      { numRuns: atDepth(25) },
    );
  },
  atDepth(300_000),
);
