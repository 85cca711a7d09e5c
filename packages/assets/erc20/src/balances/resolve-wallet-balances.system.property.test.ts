import type { Address } from '@chainstead/core';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { addressOf, atDepth } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ALICE, type BalanceStage, BOB, GOLD, openBalanceStage, SILVER, TIN } from './testing/balance-stage.ts';
import { misCounted } from './testing/mis-counted.ts';
import { type OnChainOptions, someAge, someKill, someOnChain, takeOnChain } from './testing/random-history.ts';
import { LIAR, type Move, SILENT } from './testing/token-chain.ts';

const scratch = scratchOfFile();
let nextChain = 1_200_001;

const MINTER = addressOf(0x111);
const WALLETS = [ALICE, BOB] as const;
/** Tokens whose transfers match their balances. */
const HONEST: readonly Address[] = [GOLD, SILVER];

const someMove: fc.Arbitrary<Move> = fc.record({
  token: fc.constantFrom(GOLD, GOLD, SILVER, TIN, LIAR, SILENT),
  from: fc.constantFrom(MINTER, ALICE, BOB),
  to: fc.constantFrom(MINTER, ALICE, BOB),
  value: fc.bigInt({ min: 0n, max: 100n }),
});
const someMoves = fc.array(someMove, { maxLength: 4 });
const isGiven: OnChainOptions['isGiven'] = ({ from, token }) => from === MINTER || token === LIAR;
/** TIN rebases. */
const someChanges = fc.array(
  fc.record({
    token: fc.constant(TIN),
    wallet: fc.constantFrom(...WALLETS),
    by: fc.bigInt({ min: 1n, max: 9n }),
  }),
  { maxLength: 1 },
);
const onChain = someOnChain(someMoves, someChanges);
const someAsk = fc.record({
  kind: fc.constant('ask' as const),
  wallet: fc.constantFrom(...WALLETS),
  tokens: fc.option(fc.constantFrom([GOLD], [SILVER, LIAR, SILENT, TIN]), { freq: 3 }),
  blocksBack: fc.option(fc.integer({ min: 0, max: 12 })),
  isDown: fc.boolean(),
  meanwhile: fc.option(onChain, { freq: 2 }),
});
const someStep = fc.oneof(
  { weight: 3, arbitrary: onChain },
  { weight: 4, arbitrary: someAsk },
  { weight: 1, arbitrary: someAge },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('backfill' as const) }) },
  { weight: 2, arbitrary: someKill },
);
type Ask = typeof someAsk extends fc.Arbitrary<infer T> ? T : never;

async function ask(
  stage: BalanceStage,
  { wallet, tokens, blocksBack, isDown, meanwhile }: Ask,
  firstFollowed: number,
) {
  const toBlock = blocksBack === null ? null : Math.max(0, stage.tokens.head.number - blocksBack);
  const happen = async (): Promise<void> => {
    for (const node of stage.nodes) node.before = async () => {};
    // A past balance returned a moment ago belongs to the branch of that moment.
    if (meanwhile !== null && (toBlock === null || meanwhile.kind === 'mine'))
      await takeOnChain(stage, meanwhile, { firstFollowed, isGiven });
  };
  for (const node of stage.nodes) {
    node.before = happen;
    // Only one of the nodes: responses come late, but they come.
    node.isDown = isDown && node === stage.nodes[0];
  }
  const reported = await stage.report({ wallet, tokens, toBlock }).catch((error: unknown) => {
    // Once the worker is killed, balances of the past that only nodes have are unavailable.
    if (stage.dieAfter === null || !(error instanceof StateUnavailableError)) throw error;
    return null;
  });
  for (const node of stage.nodes) node.before = async () => {};
  if (reported === null) return;
  const classes = await stage.classes();
  for (const { token, balance, balanceBlock } of reported.balances) {
    expect(balance).toBeGreaterThan(0n);
    expect([LIAR, SILENT]).not.toContain(token);
    if (HONEST.includes(token) || classes[token] === 'live')
      expect({ token, balanceBlock, balance }).toEqual({
        token,
        balanceBlock,
        balance: stage.tokens.balance(token, wallet, balanceBlock),
      });
  }
  for (const token of HONEST) expect(['sum', undefined]).toContain(classes[token]);
  const newest = reported.indexed.toBlock ?? 0;
  const block = Math.min(toBlock ?? newest, newest);
  if (reported.isComplete)
    for (const token of tokens ?? HONEST)
      if (HONEST.includes(token) && stage.tokens.balance(token, wallet, block) > 0n)
        expect(reported.balances.map((one) => one.token)).toContain(token);
}

test(
  'what is shown of honest tokens is what their contracts hold, and of others never what they do not, whatever happens',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someMoves, { maxLength: 6 }),
        fc.array(someStep, { minLength: 3, maxLength: 14 }),
        async (history, steps) => {
          const given = history.map((moves) => moves.filter(({ from }) => from === MINTER));
          const stage = await openBalanceStage(scratch.database, { chainId: nextChain++, history: given });
          const firstFollowed = given.length === 0 ? 0 : given.length + 1;
          try {
            await stage.mine();
            let isFilled = given.length === 0;
            for (const step of steps) {
              if (step.kind === 'ask') await ask(stage, step, firstFollowed);
              else if (step.kind === 'age') await stage.age(step.hours);
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
