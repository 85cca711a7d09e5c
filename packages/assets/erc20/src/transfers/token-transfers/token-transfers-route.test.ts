import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { addressOf, hashOf, storeToken } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { DAI, eth, FRIEND, transfer, transfersIn, USDC, WALLET } from '../testing/example-wallet.ts';
import { seedCoverage, seedTransfers } from '../testing/seeded-wallets.ts';
import { blocksOf, openTokenStage, seedTokenRange } from './testing/token-stage.ts';

const stage = stageOfFile(openTokenStage);
beforeEach(() => stage.empty());

describe('a transfer of a token', () => {
  test('is shown with labels of both sides and the metadata of the token', async () => {
    const { database } = stage;
    await seedTransfers(database, eth, [transfer(7, { transactionIndex: 3, logIndex: 9 })]);
    await seedCoverage(database, eth, 0, 10);
    await storeToken(database, 1, USDC, {
      facts_status: 'known',
      standard: 'erc20',
      name: 'USD Coin',
      symbol: 'USDC',
      decimals: 6,
      logo: 'https://logo.example/usdc.png',
      verified: true,
      possible_spam: true,
    });
    await database.query(
      sql`INSERT INTO address_labels (address, chain_id, source, label, entity, entity_logo)
       VALUES (${addressBytes(WALLET)}, 1, 'list', 'Alice', 'Wonderland', 'https://logo.example/w.png'), (${addressBytes(FRIEND)}, 0, 'list', 'Bob', NULL, NULL)`,
    );
    // The other members are those of a wallet's list (wallet-token-transfers-route.test.ts).
    expect(await stage.get()).toMatchObject({
      ...{ page: 0, page_size: 100, cursor: null },
      indexed: { from_block: '0', to_block: '10', complete: true },
      result: [
        {
          ...{
            token_symbol: 'USDC',
            token_decimals: '6',
            address: USDC,
            value_decimal: '1.5',
            possible_spam: true,
          },
          ...{ from_address: WALLET, from_address_label: 'Alice', to_address: FRIEND, to_address_label: 'Bob' },
          ...{ block_hash: hashOf(1, 7), block_number: '7', transaction_index: 3, log_index: 9 },
        },
      ],
    });
  });

  test('is listed once, also a mint, a burn and one to oneself', async () => {
    await seedTransfers(stage.database, eth, [
      transfer(1, { from: ZERO_ADDRESS }),
      transfer(2),
      transfer(3, { to: WALLET }),
      transfer(4, { to: ZERO_ADDRESS }),
    ]);
    expect((await stage.get('?order=asc')).result.map((row) => [row.from_address, row.to_address])).toEqual([
      [ZERO_ADDRESS, FRIEND],
      [WALLET, FRIEND],
      [WALLET, WALLET],
      [WALLET, ZERO_ADDRESS],
    ]);
  });

  test('is not that of another token whose address ends alike, nor of a wallet', async () => {
    const alike = parseAddress(`0x${'77'.repeat(16)}${USDC.slice(-8)}`);
    await seedTransfers(stage.database, eth, [
      transfer(1),
      transfer(2, { token: alike }),
      transfer(3, { token: DAI }),
    ]);
    expect(blocksOf(await stage.get())).toEqual([1]);
    expect(blocksOf(await stage.get('', alike))).toEqual([2]);
    expect(blocksOf(await stage.get('', WALLET))).toEqual([]);
  });

  test('of a contract that turned out to be of NFTs is none, as in a wallet’s list', async () => {
    await seedTransfers(stage.database, eth, transfersIn(1, 3));
    await storeToken(stage.database, 1, USDC, { standard: 'erc721' });
    expect((await stage.get()).result).toEqual([]);
  });
});

describe('indexed', () => {
  test('joins the chain’s coverage with what was read of the token alone, also where both begin alike', async () => {
    const { database } = stage;
    await seedCoverage(database, eth, 100, 200);
    expect((await stage.get()).indexed).toEqual({ from_block: '100', to_block: '200', complete: false });
    await seedTokenRange(database, USDC, 0, 50);
    expect((await stage.get()).indexed).toEqual({ from_block: '100', to_block: '200', complete: false });
    await seedTokenRange(database, USDC, 51, 120);
    expect((await stage.get()).indexed).toEqual({ from_block: '0', to_block: '200', complete: true });
    expect((await stage.get('', DAI)).indexed.complete).toBe(false);
    await seedCoverage(database, eth, 0, 20);
    expect((await stage.get()).indexed).toEqual({ from_block: '0', to_block: '200', complete: true });
    await database.query(sql`DELETE FROM sync_ranges`);
    expect((await stage.get()).indexed.complete).toBe(false);
  });

  test('is complete from the block in which the contract was made', async () => {
    await seedCoverage(stage.database, eth, 100, 200);
    await storeToken(stage.database, 1, USDC, { created_block: 100 });
    expect((await stage.get()).indexed.complete).toBe(true);
    await stage.database.query(sql`UPDATE tokens SET created_block = 99`);
    expect((await stage.get()).indexed.complete).toBe(false);
  });

  test('is of the blocks that were asked for, and the history is asked for only where one is missing', async () => {
    // A token without earlier requests: contracts are checked only at intervals.
    const token = addressOf(0x70ce);
    await seedCoverage(stage.database, eth, 100, 200);
    for (const query of ['?from_block=100', '?from_block=150&to_block=160'])
      expect((await stage.get(query, token)).indexed.complete).toBe(true);
    expect(await stage.histories()).toEqual([]);
    expect((await stage.get('?from_block=99', token)).indexed.complete).toBe(false);
    expect(await stage.histories()).toEqual([token]);
  });
});

test('without its index the token’s pages are refused, with what to do', async () => {
  const bare = await openTokenStage();
  try {
    await bare.database.query(sql`DROP INDEX erc20_transfer_sides_by_contract`);
    for (const path of [`/erc20/${USDC}/transfers`, `/erc20/${USDC}/stats`])
      expect(await bare.request(path)).toEqual({
        status: 503,
        body: {
          message:
            'Database indexes for this request are missing (erc20_transfer_sides_by_contract): build them with `chainstead indexes`',
          details: { indexes: ['erc20_transfer_sides_by_contract'] },
        },
      });
  } finally {
    await bare.close();
  }
});

describe.each(['ASC', 'DESC'] as const)('pages of a token, %s', (order) => {
  test.each([1, 100])('walk every transfer once, %i a page', async (limit) => {
    const { database } = stage;
    await seedCoverage(database, eth, 0, 60);
    const seeded = [
      ...transfersIn(1, 20),
      ...transfersIn(21, 30).flatMap((one) => [
        one,
        { ...one, logIndex: 1, from: FRIEND },
        { ...one, transactionIndex: 1, logIndex: 0 },
        { ...one, transactionIndex: 1, logIndex: 1, token: DAI },
      ]),
    ];
    await seedTransfers(database, eth, seeded);
    const pages = await stage.pages(`?limit=${limit}&order=${order}`);
    const places = pages.flatMap(({ result }) =>
      result.map((row) => [Number(row.block_number), row.transaction_index, row.log_index]),
    );
    const expected = seeded.flatMap(({ token, blockNumber, transactionIndex, logIndex }) =>
      token === USDC ? [[blockNumber, transactionIndex, logIndex]] : [],
    );
    expect(places).toEqual(order === 'ASC' ? expected : expected.toReversed());
    expect(pages.map(({ page, page_size }) => [page, page_size])).toEqual(
      pages.map((_page, index) => [index, limit]),
    );
    expect(pages).toHaveLength(Math.ceil(expected.length / limit));
  });

  test('show no block that came after the first', async () => {
    await seedCoverage(stage.database, eth, 0, 3);
    await seedTransfers(stage.database, eth, transfersIn(1, 3));
    const { cursor } = await stage.get(`?limit=2&order=${order}`);
    await seedTransfers(stage.database, eth, [transfer(4)]);
    expect(blocksOf(await stage.get(`?cursor=${cursor}`))).toEqual(order === 'ASC' ? [3] : [1]);
  });

  test.each(['from_block=11&to_block=14', 'from_date=1600000132&to_date=1600000168'])(
    'are bounded on both sides: %s',
    async (bounds) => {
      await seedTransfers(stage.database, eth, transfersIn(1, 30));
      const pages = await stage.pages(`?limit=3&order=${order}&${bounds}`);
      const wanted = [11, 12, 13, 14];
      expect(pages.flatMap(blocksOf)).toEqual(order === 'ASC' ? wanted : wanted.toReversed());
    },
  );
});
