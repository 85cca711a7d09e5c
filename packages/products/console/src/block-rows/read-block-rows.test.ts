import { createChainRegistry } from '@chainstead/chains';
import { rawSql } from '@chainstead/db';
import { seedTransfers } from '@chainstead/erc20/testing';
import { seedTrades } from '@chainstead/nft/testing';
import { addressOf, hashOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { type BlockRowsQuery, type RowPlace, readBlockRows } from './read-block-rows.ts';

const eth = createChainRegistry().get('eth');
const [ALICE, BOB, TOKEN] = [addressOf(0xa), addressOf(0xb), addressOf(0xc)];
const OF_BLOCK: BlockRowsQuery = { chainId: eth.id, blockNumber: 100, transaction: null, after: null, limit: 10 };

const scratch = scratchOfFile();
beforeAll(async () => {
  const transfers = [99, 100, 101].flatMap((blockNumber) =>
    [0, 1, 2, 3, 4].map((logIndex) => ({
      from: ALICE,
      to: logIndex === 4 ? ALICE : BOB,
      token: TOKEN,
      value: BigInt(logIndex),
      blockNumber,
      transactionIndex: logIndex < 2 ? 0 : 1,
      logIndex,
    })),
  );
  await seedTransfers(scratch.database, eth, transfers);
  await seedTrades(scratch.database, eth, [{ blockNumber: 100, tokenIds: ['1', '2'] }]);
});

test('a block has its own rows, each transfer once, in the order of the chain', async () => {
  const { rows, next } = await readBlockRows(scratch.database, 'erc20_transfers', OF_BLOCK);
  expect(rows.map(({ logIndex }) => logIndex)).toEqual([0, 1, 2, 3, 4]);
  expect(rows[0]).toMatchObject({ fromAddress: ALICE, toAddress: BOB, tokenAddress: TOKEN, baseUnits: '0' });
  expect(next).toBeNull();
  const trades = await readBlockRows(scratch.database, 'nft_trades', OF_BLOCK);
  expect(trades.rows).toMatchObject([{ tokenIds: ['1', '2'], marketplace: 'opensea' }]);
  expect((await readBlockRows(scratch.database, 'nft_transfers', OF_BLOCK)).rows).toEqual([]);
});

test('a transaction has its rows alone', async () => {
  const transaction = hashOf(2, 100 * 1_000 + 1);
  const { rows } = await readBlockRows(scratch.database, 'erc20_transfers', { ...OF_BLOCK, transaction });
  expect(rows.map(({ logIndex }) => logIndex)).toEqual([2, 3, 4]);
});

test('pages follow each other without gap or repetition', async () => {
  const seen: unknown[] = [];
  let after: RowPlace | null = null;
  do {
    const { rows, next } = await readBlockRows(scratch.database, 'erc20_transfers', {
      ...OF_BLOCK,
      after,
      limit: 2,
    });
    seen.push(...rows.map(({ logIndex }) => logIndex));
    after = next;
  } while (after !== null);
  expect(seen).toEqual([0, 1, 2, 3, 4]);
});

test('the SQL that is told gives the same rows', async () => {
  const { rows, sql } = await readBlockRows(scratch.database, 'erc20_transfers', { ...OF_BLOCK, limit: 3 });
  expect(await scratch.database.query(rawSql(sql))).toEqual(rows);
});

test('a block beyond what columns hold has no rows', async () => {
  const { rows } = await readBlockRows(scratch.database, 'nft_trades', {
    ...OF_BLOCK,
    blockNumber: 999_999_999_999,
  });
  expect(rows).toEqual([]);
});

test('nothing but a hash is let into a statement', async () => {
  const transaction = "0x'; DROP TABLE blocks; --" as typeof OF_BLOCK.transaction;
  await expect(readBlockRows(scratch.database, 'nft_transfers', { ...OF_BLOCK, transaction })).rejects.toThrow(
    'no hash',
  );
});
