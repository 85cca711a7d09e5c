import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, rawSql, runStatements, sql } from '@chainstead/db';
import { runProjection } from '@chainstead/sync/ingest';
import { addressOf, atDepth, exampleChain, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { erc20Transfers } from '../transfers/dataset.ts';
import { toLog } from '../transfers/testing/seeded-wallets.ts';
import { erc20TokenHolders } from '../transfers/token-holders.ts';
import { type Blocks, type Gift, modelCounts, modelHolders, modelMinutes } from './testing/holder-model.ts';
import { isExact, storedCounts, storedHolders, storedMinutes } from './testing/stored-holders.ts';

const TOKEN = addressOf(0x70c);
/** Not requested. */
const OTHER = addressOf(0x07e);
const BLOCKS = 14;

const scratch = scratchOfFile();
let nextChain = 1_200_001;

beforeAll(async () => {
  await scratch.database.query(sql`CREATE TABLE there (LIKE erc20_transfer_sides)`);
  await scratch.database.query(sql`CREATE INDEX ON there (account_key, token_key(token))`);
  await scratch.database.query(sql`CREATE INDEX ON there (token_key(token), block_number)`);
});

const SUBJECTS = sql`(SELECT ${addressBytes(TOKEN)}::bytea AS subject, 1000000 AS built_to)`;

const someone: fc.Arbitrary<Address> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(ZERO_ADDRESS) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }).map(addressOf) },
);
const gift: fc.Arbitrary<Gift> = fc.record({
  from: someone,
  to: someone,
  value: fc.oneof(fc.bigInt({ min: 0n, max: 4n }), fc.constantFrom(10n ** 6n, 2n ** 255n)),
  transaction: fc.nat({ max: 2 }),
});
/** One transaction with more transfers than the airdrop limit, or exactly as many. */
const airdrop: fc.Arbitrary<readonly Gift[]> = fc
  .record({ count: fc.constantFrom(20, 21), value: fc.bigInt({ min: 1n, max: 3n }) })
  .map(({ count, value }) =>
    Array.from({ length: count }, (_, place) => ({
      from: ZERO_ADDRESS,
      to: addressOf(1 + (place % 6)),
      value,
      transaction: 3,
    })),
  );
const block: fc.Arbitrary<readonly Gift[]> = fc
  .tuple(fc.array(gift, { maxLength: 6 }), fc.option(airdrop, { freq: 5, nil: [] }))
  .map((parts) => parts.flat().toSorted((one, other) => one.transaction - other.transaction));
const history = fc.array(block, { minLength: BLOCKS, maxLength: BLOCKS });

/** Steps: blocks are added above all others or removed from the top, or any blocks are added or removed. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('undo' as const), count: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('add' as const, 'remove' as const),
      some: fc.uniqueArray(fc.nat(BLOCKS - 1), { minLength: 1, maxLength: BLOCKS }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** The blocks that a step adds or removes. */
function changed({ present, next }: { present: ReadonlySet<number>; next: number }, one: Step): number[] {
  switch (one.kind) {
    case 'append':
      return Array.from({ length: one.count }, (_, place) => next + place).filter((number) => number < BLOCKS);
    case 'undo':
      return [...present].toSorted((a, b) => b - a).slice(0, one.count);
    case 'add':
      return one.some.filter((number) => !present.has(number));
    case 'remove':
      return one.some.filter((number) => present.has(number));
  }
}

async function change(
  chainId: number,
  kind: 'added' | 'removed',
  numbers: readonly number[],
  blocks: readonly (readonly Gift[])[],
) {
  await scratch.database.transaction(async (transaction) => {
    await transaction.query(
      sql`CREATE TEMP TABLE IF NOT EXISTS moved (LIKE erc20_transfer_sides) ON COMMIT DELETE ROWS`,
    );
    await transaction.copy('moved', erc20Transfers.table.columns, linesOf(chainId, numbers, blocks));
    await transaction.query(
      rawSql(
        kind === 'added'
          ? 'INSERT INTO there SELECT * FROM moved'
          : 'DELETE FROM there WHERE (chain_id, block_number) IN (SELECT chain_id, block_number FROM moved)',
      ),
    );
    // Half of the runs use distributed tables.
    await runProjection(transaction, chainId % 2 === 0, (access) => {
      const change = { rows: rawSql('moved'), subjects: SUBJECTS, access };
      return kind === 'added'
        ? erc20TokenHolders.added(change)
        : erc20TokenHolders.removed({ ...change, remaining: rawSql('there') });
    });
  });
}

function linesOf(chainId: number, numbers: readonly number[], blocks: readonly (readonly Gift[])[]): string[] {
  const chain = exampleChain({ id: chainId });
  return numbers.flatMap((number) =>
    (blocks[number] ?? []).flatMap(({ transaction, ...move }, place) =>
      [TOKEN, OTHER].flatMap((token, side) =>
        erc20Transfers
          .decode(
            [
              toLog({
                ...move,
                token,
                blockNumber: number,
                transactionIndex: transaction,
                logIndex: 2 * place + side,
              }),
            ],
            { chain, timestampOf },
          )
          .map((row) => erc20Transfers.table.copyLine(row)),
      ),
    ),
  );
}

async function storeBlocks(chainId: number): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${chainId}, number, decode(lpad(to_hex(number), 64, '0'), 'hex'), to_timestamp(${timestampOf(0)}::bigint + 12 * number) FROM generate_series(0, ${BLOCKS}::bigint) AS number`,
  );
}

function presentBlocks(present: ReadonlySet<number>, blocks: readonly (readonly Gift[])[]): Blocks {
  return new Map(
    [...present].flatMap((number) => {
      const own = blocks[number] ?? [];
      return own.length === 0 ? [] : [[number, own] as const];
    }),
  );
}

describe('who holds a token', () => {
  it(
    'adds up to its transfers in whatever order they came and went; minutes too, where they came in order and went from the top',
    async () => {
      let exactSteps = 0;
      await fc.assert(
        fc.asyncProperty(history, fc.array(step, { minLength: 3, maxLength: 12 }), async (blocks, steps) => {
          const chainId = nextChain++;
          await storeBlocks(chainId);
          const { database } = scratch;
          const present = new Set<number>();
          let inOrder = true;
          for (const one of steps) {
            const next = present.size === 0 ? 0 : Math.max(...present) + 1;
            const numbers = changed({ present, next }, one);
            const kind = one.kind === 'append' || one.kind === 'add' ? 'added' : 'removed';
            const moving = numbers.filter((number) => (blocks[number] ?? []).length > 0);
            if (kind === 'added')
              inOrder &&= moving.every((number) =>
                [...presentBlocks(present, blocks).keys()].every((other) => other < number),
              );
            for (const number of numbers)
              if (kind === 'added') present.add(number);
              else present.delete(number);
            const there = presentBlocks(present, blocks);
            if (kind === 'removed')
              inOrder &&= moving.every((number) => [...there.keys()].every((other) => other < number));
            if (there.size === 0) inOrder = true;
            await change(chainId, kind, numbers, blocks);
            expect(await storedHolders(database, chainId, TOKEN)).toEqual(modelHolders(there));
            expect(await storedCounts(database, chainId, TOKEN)).toEqual(modelCounts(there));
            expect(await storedHolders(database, chainId, OTHER)).toEqual([]);
            expect(await isExact(database, chainId, TOKEN)).toBe(inOrder);
            if (!inOrder) continue;
            exactSteps++;
            expect(await storedMinutes(database, chainId, TOKEN)).toEqual(modelMinutes(there));
          }
          await change(chainId, 'removed', [...present], blocks);
          expect(await storedHolders(database, chainId, TOKEN)).toEqual([]);
          expect(await storedMinutes(database, chainId, TOKEN)).toEqual([]);
          expect(await storedCounts(database, chainId, TOKEN)).toBeUndefined();
        }),
        { numRuns: atDepth(50) },
      );
      expect(exactSteps).toBeGreaterThan(40);
    },
    atDepth(480_000),
  );

  it('takes accounts above their anchor, and forgets what was said at blocks that are gone', async () => {
    const chainId = nextChain++;
    const { database } = scratch;
    await storeBlocks(chainId);
    const give = (value: bigint): readonly Gift[] => [
      { from: ZERO_ADDRESS, to: addressOf(1), value, transaction: 0 },
    ];
    const blocks = [give(5n), give(7n), give(11n)];
    await change(chainId, 'added', [1], blocks);
    await database.query(
      sql`UPDATE erc20_holders SET anchor_block = 1, anchor_value = 100 WHERE chain_id = ${chainId}`,
    );
    await change(chainId, 'added', [2], blocks);
    await change(chainId, 'added', [0], blocks);
    const balance = async () => {
      const [row] = await database.query(
        sql`SELECT total::text, balance::text FROM erc20_holders WHERE chain_id = ${chainId}`,
      );
      return row;
    };
    expect(await balance()).toEqual({ total: '23', balance: '111' });
    await change(chainId, 'removed', [2], blocks);
    expect(await balance()).toEqual({ total: '12', balance: '100' });
    await runStatements(database, erc20TokenHolders.rolledBack?.(exampleChain({ id: chainId }).id, 0) ?? []);
    expect(await balance()).toEqual({ total: '12', balance: '12' });
  });
});
