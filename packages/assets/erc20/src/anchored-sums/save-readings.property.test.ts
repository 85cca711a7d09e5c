/** Storing the reads of many wallets together has the same result as one after the other, with few transactions. */
import { type Address, waitingAtMost } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { addressOf, atDepth, hashOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type BalanceStage, openBalanceStage } from '../balances/testing/balance-stage.ts';
import type { Move } from '../balances/testing/token-chain.ts';
import type { Said } from '../calls/fetch-balances.ts';
import { erc20Transfers } from '../transfers/dataset.ts';
import { erc20WalletTokens } from '../transfers/wallet-tokens.ts';
import { BY_WALLET } from './axes.ts';
import type { Readings } from './readings-in-sql.ts';
import { saveReadings } from './save-readings.ts';

const MINTER = addressOf(0x111);
const walletOf = (number: number): Address => addressOf(0x4000 + number);
/** Wallets have separate tokens: a read of one wallet affects how another wallet's read of the same token is judged. */
const tokenOf = (wallet: number, token: number): Address => addressOf(0x5000 + 16 * wallet + token);

const scratch = scratchOfFile();
let nextChain = 1_530_001;

async function keepWallets({ chain, context }: BalanceStage, wallets: readonly number[]): Promise<void> {
  const projections = createSubjectProjections(context.database);
  const of = { dataset: erc20Transfers, state: erc20WalletTokens };
  for (const number of wallets)
    expect(await waitingAtMost(10_000, () => projections.keep(chain, of, walletOf(number)))).toBe('built');
}

/** The stored rows without timestamps. */
async function keptOf({ chain, context }: BalanceStage): Promise<readonly object[]> {
  const held = await context.database.query(
    sql`SELECT encode(wallet, 'hex') AS wallet, encode(token, 'hex') AS token, total, moved_block, anchor_block, anchor_value, since,
       anchored_at IS NULL AS is_doubted FROM erc20_wallet_tokens WHERE chain_id = ${chain.id} ORDER BY wallet, token`,
  );
  const classes = await context.database.query(
    sql`SELECT encode(token, 'hex') AS token, class FROM erc20_token_classes WHERE chain_id = ${chain.id} ORDER BY token`,
  );
  return [...held, ...classes];
}

const someBlock = fc.array(
  fc.record({ wallet: fc.nat(5), token: fc.nat(2), value: fc.nat(100), isGift: fc.boolean() }),
  { maxLength: 8 },
);
const someAnswer = fc.record({
  first: fc.constantFrom('right', 'wrong', 'nothing'),
  second: fc.constantFrom('right', 'wrong', 'nothing', 'unheard'),
  isSilent: fc.boolean(),
});
type SomeAnswer = typeof someAnswer extends fc.Arbitrary<infer T> ? T : never;
const someReadings = fc.array(
  fc.record({
    wallet: fc.nat(5),
    /** 4 is a block that was reorganized away. */
    block: fc.integer({ min: 1, max: 4 }),
    wasRequestedTwice: fc.boolean(),
    answers: fc.array(fc.option(someAnswer), { minLength: 3, maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 12 },
);
type SomeReadings = (typeof someReadings extends fc.Arbitrary<infer T> ? T : never)[number];

test(
  'are kept as one after the other would be, whatever contracts said at whichever block',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someBlock, { minLength: 3, maxLength: 3 }),
        fc.uniqueArray(fc.nat(5)),
        someReadings,
        someReadings,
        async (blocks, projections, earlier, later) => {
          const stages: BalanceStage[] = [];
          const outcomes: unknown[] = [];
          try {
            for (const isTogether of [false, true]) {
              const stage = await openBalanceStage(scratch.database, { chainId: nextChain++ });
              stages.push(stage);
              await keepWallets(stage, projections);
              for (const moves of blocks) await stage.mine(moves.map(toMove));
              const reported: unknown[] = [];
              for (const some of [earlier, later]) {
                const readings = some.map((one) => toReadings(stage, one));
                const save = (one: Readings) =>
                  saveReadings(stage.context, BY_WALLET, one).then(sorted, toReason);
                if (isTogether) reported.push(...(await Promise.all(readings.map(save))));
                else for (const one of readings) reported.push(await save(one));
              }
              outcomes.push([reported, await keptOf(stage)]);
            }
          } finally {
            await Promise.all(stages.map((stage) => stage.close()));
          }
          expect(outcomes[1]).toEqual(outcomes[0]);
        },
      ),
      { numRuns: atDepth(6) },
    );
  },
  atDepth(240_000),
);

function toMove({
  wallet,
  token,
  value,
  isGift,
}: {
  wallet: number;
  token: number;
  value: number;
  isGift: boolean;
}): Move {
  const [from, to] = isGift ? [MINTER, walletOf(wallet)] : [walletOf(wallet), MINTER];
  return { token: tokenOf(wallet, token), from, to, value: BigInt(value) };
}

function toReadings(stage: BalanceStage, { wallet, block, wasRequestedTwice, answers }: SomeReadings): Readings {
  const first = new Map<Address, bigint | null>();
  const second = new Map<Address, Said>();
  const silent = new Set<Address>();
  for (const [place, answer] of answers.entries()) {
    if (answer === null) continue;
    const token = tokenOf(wallet, place);
    const right = stage.tokens.balance(token, walletOf(wallet), Math.min(block, 3));
    first.set(token, saidOf(answer.first, right));
    second.set(token, answer.second === 'unheard' ? 'unheard' : saidOf(answer.second, right));
    if (answer.isSilent) silent.add(token);
  }
  const hash = stage.tokens.block(block)?.hash ?? hashOf(0xdead, block);
  return {
    subject: walletOf(wallet),
    firstBlock: stage.chain.firstBlock,
    block: { number: block, hash, timestamp: 0 },
    first,
    second: wasRequestedTwice ? second : null,
    silent,
  };
}

/** A balance is never negative, but a contract may return any number for an account that received none. */
function saidOf(answer: SomeAnswer['first'], right: bigint): bigint | null {
  return answer === 'nothing' ? null : answer === 'right' && right >= 0n ? right : 777n;
}

const sorted = (tokens: readonly Address[]): readonly Address[] => tokens.toSorted();

function toReason(error: unknown): string {
  if (!(error instanceof StateUnavailableError)) throw error;
  return error.message;
}

test('share a transaction with all that wait for the lock meanwhile', async () => {
  const stage = await openBalanceStage(scratch.database, { chainId: nextChain++ });
  try {
    const wallets = Array.from({ length: 60 }, (_, number) => number);
    await keepWallets(stage, wallets);
    const token = tokenOf(0, 0);
    await stage.mine(
      wallets.map((number) => ({ token, from: MINTER, to: walletOf(number), value: BigInt(number + 1) })),
    );
    const { hash, number } = stage.tokens.head;
    const counted = countTransactions(scratch.database);
    const context = { ...stage.context, database: counted.database };
    const save = (wallet: number) =>
      saveReadings(context, BY_WALLET, {
        subject: walletOf(wallet),
        firstBlock: stage.chain.firstBlock,
        block: { number, hash, timestamp: 0 },
        first: new Map([[token, BigInt(wallet + 1)]]),
        second: null,
        silent: new Set(),
      });
    expect(await Promise.all(wallets.map(save))).toEqual(wallets.map(() => []));
    // The first call does not wait for others.
    expect(counted.begun()).toBe(2);
    for (const node of stage.nodes) node.isDown = true;
    for (const wallet of wallets)
      expect(await stage.shown({ wallet: walletOf(wallet) })).toEqual([`${token} ${wallet + 1} 1`]);
    // Two reads of one wallet may concern the same token.
    await Promise.all([save(1), save(2), save(2), save(3)]);
    expect(counted.begun()).toBe(5);
  } finally {
    await stage.close();
  }
});

function countTransactions(database: Database): { readonly database: Database; begun(): number } {
  let begun = 0;
  return {
    database: {
      ...database,
      transaction(work) {
        begun++;
        return database.transaction(work);
      },
    },
    begun: () => begun,
  };
}
