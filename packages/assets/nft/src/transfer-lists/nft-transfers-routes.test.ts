import { ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { reviseLabels } from '@chainstead/pages/testing';
import { addressOf, hashOf, storeToken, timestampOf } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { seedTrades } from '../trades/testing/seeded-trades.ts';
import { blocksOf, eth, openNftTransfersStage } from './testing/nft-transfers-stage.ts';
import { ALICE, APES, BOB, CARDS, movesIn, rangeIn, seedMoves } from './testing/seeded-moves.ts';

const ID_MAX = (2n ** 256n - 1n).toString();
const WALLET = `/${ALICE}/nft/transfers`;
const COLLECTION = `/nft/${APES}/transfers`;
const TOKEN = `/nft/${APES}/7/transfers`;
const ALL = [WALLET, COLLECTION, TOKEN];

const stage = stageOfFile(openNftTransfersStage);
beforeEach(() => stage.empty());

describe('an NFT transfer', () => {
  test.each(ALL)('is shown with every field: %s', async (path) => {
    const { database } = stage;
    await seedMoves(database, eth, [
      {
        kind: NFT_TRANSFER_KINDS.erc1155Batch,
        amount: '5',
        operator: BOB,
        blockNumber: 7,
        transactionIndex: 3,
        logIndex: 9,
      },
    ]);
    await stage.cover(0, 10);
    await stage.carry(hashOf(2, 7_003), '1500000000000000000');
    await storeToken(database, 1, APES, {
      standard: 'erc1155',
      name: 'Apes',
      symbol: 'APE',
      verified: true,
      possible_spam: false,
    });
    await database.query(
      sql`INSERT INTO address_labels (address, chain_id, source, label, entity, entity_logo)
       VALUES (${addressBytes(ALICE)}, 1, 'list', 'Alice', 'Wonderland', 'https://logo.example/w.png'), (${addressBytes(BOB)}, 0, 'list', 'Bob', NULL, NULL)`,
    );
    await reviseLabels(database);
    expect(await stage.get(path)).toEqual({
      page: 0,
      page_size: 100,
      cursor: null,
      indexed: { from_block: '0', to_block: '10', complete: true },
      result: [
        {
          token_address: APES,
          token_id: '7',
          token_name: 'Apes',
          token_symbol: 'APE',
          contract_type: 'ERC1155',
          transaction_type: 'Batch',
          from_address: ALICE,
          from_address_label: 'Alice',
          from_address_entity: 'Wonderland',
          from_address_entity_logo: 'https://logo.example/w.png',
          to_address: BOB,
          to_address_label: 'Bob',
          to_address_entity: null,
          to_address_entity_logo: null,
          amount: '5',
          value: '1500000000000000000',
          operator: BOB,
          block_number: '7',
          block_timestamp: new Date(timestampOf(7) * 1000).toISOString(),
          block_hash: hashOf(1, 7),
          transaction_hash: hashOf(2, 7_003),
          transaction_index: 3,
          log_index: 9,
          possible_spam: false,
          verified_collection: true,
        },
      ],
      block_exists: true,
      index_complete: true,
    });
  });

  test.each(ALL)('of which nothing is known has nulls: %s', async (path) => {
    await seedMoves(stage.database, eth, [{ blockNumber: 7 }]);
    const [row] = (await stage.get(path)).result;
    expect(row).toMatchObject({ transaction_type: 'Single', possible_spam: false, verified_collection: false });
    const unknown = Object.entries(row ?? {}).filter(([, value]) => value === null);
    expect(unknown.map(([field]) => field).toSorted()).toEqual([
      'contract_type',
      'from_address_entity',
      'from_address_entity_logo',
      'from_address_label',
      'operator',
      'to_address_entity',
      'to_address_entity_logo',
      'to_address_label',
      'token_name',
      'token_symbol',
      'value',
    ]);
  });

  test('has its token id as format says', async () => {
    await seedMoves(stage.database, eth, [
      { id: ID_MAX, blockNumber: 1 },
      { id: '0', blockNumber: 2 },
    ]);
    for (const [format, ids] of [
      ['decimal', ['0', ID_MAX]],
      ['hex', ['0x0', `0x${'f'.repeat(64)}`]],
    ] as const)
      expect((await stage.get(`${COLLECTION}?format=${format}`)).result.map((row) => row.token_id)).toEqual(ids);
    const [row] = (await stage.get(`/nft/${APES}/0x${'F'.repeat(64)}/transfers?format=hex`)).result;
    expect(row?.token_id).toBe(`0x${'f'.repeat(64)}`);
  });

  test('has the last sale of its token with include_prices', async () => {
    await seedMoves(stage.database, eth, [{ blockNumber: 8 }, { id: '8', blockNumber: 9 }]);
    const timestamp = Math.floor(Date.now() / 1000) - 3_600;
    await seedTrades(stage.database, eth, [{ token: APES, tokenIds: ['7'], blockNumber: 20, timestamp }]);
    for (const path of [WALLET, COLLECTION]) {
      const [other, sold] = (await stage.get(`${path}?include_prices=true`)).result;
      expect([other?.last_sale, sold?.last_sale]).toMatchObject([
        null,
        { price: '1000000000000000000', token_address: APES, token_id: '7' },
      ]);
    }
    expect((await stage.get(TOKEN)).result[0]).not.toHaveProperty('last_sale');
  });

  test('of a batch is a row for each item, in their order', async () => {
    const { erc1155Batch: kind } = NFT_TRANSFER_KINDS;
    await seedMoves(
      stage.database,
      eth,
      ['3', '1', '2'].map((id, item) => ({ token: CARDS, kind, id, item, blockNumber: 4 })),
    );
    expect((await stage.get(`/nft/${CARDS}/transfers?order=ASC`)).result.map((row) => row.token_id)).toEqual([
      '3',
      '1',
      '2',
    ]);
  });
});

describe('a wallet', () => {
  test('has what it sent and received, a transfer to itself once', async () => {
    await seedMoves(stage.database, eth, [
      { blockNumber: 1 },
      { from: BOB, to: ALICE, blockNumber: 2 },
      { to: ALICE, blockNumber: 3 },
      { from: ZERO_ADDRESS, to: ALICE, blockNumber: 4 },
      { from: BOB, to: ZERO_ADDRESS, blockNumber: 5 },
    ]);
    expect(blocksOf(await stage.get(WALLET))).toEqual([4, 3, 2, 1]);
    expect(blocksOf(await stage.get(`/${ZERO_ADDRESS}/nft/transfers?order=ASC`))).toEqual([4, 5]);
  });

  test('can be asked for some contracts, in all spellings of lists', async () => {
    await seedMoves(stage.database, eth, [...movesIn(1, 3), ...movesIn(4, 6, { token: CARDS })]);
    for (const query of [
      `contract_addresses=${CARDS}`,
      `contract_addresses%5B%5D=${CARDS}`,
      `contract_addresses[0]=${CARDS}`,
    ])
      expect(blocksOf(await stage.get(`${WALLET}?${query}`))).toEqual([6, 5, 4]);
    expect(blocksOf(await stage.get(`${WALLET}?contract_addresses=${CARDS},${APES}&limit=100`))).toHaveLength(6);
  });
});

describe('a range of ids that is not expanded', () => {
  test('is found by each of its ids, and told as a range in lists', async () => {
    await seedMoves(stage.database, eth, [
      rangeIn(3, '100', '70000', { to: ALICE }),
      rangeIn(4, '70001', '140000', { to: ALICE }),
      { id: '500', blockNumber: 9 },
    ]);
    expect((await stage.get(`/nft/${APES}/500/transfers`)).result).toMatchObject([
      { token_id: '500', block_number: '9' },
      { token_id: '500', block_number: '3', from_address: ZERO_ADDRESS, to_address: ALICE, amount: '1' },
    ]);
    for (const [id, blocks] of [
      ['99', []],
      ['100', [3]],
      ['70000', [3]],
      ['70001', [4]],
      ['140001', []],
    ] as const) {
      const { result } = await stage.get(`/nft/${APES}/${id}/transfers`);
      expect(result.map((row) => Number(row.block_number))).toEqual(blocks);
      for (const row of result) expect(row).not.toHaveProperty('last_token_id');
    }
    for (const path of [COLLECTION, WALLET])
      expect((await stage.get(`${path}?to_block=3&format=hex`)).result).toMatchObject([
        { token_id: '0x64', last_token_id: '0x11170' },
      ]);
  });
});

describe('indexed', () => {
  test('is of the wallet or the contract, whose history is asked for where blocks are missing', async () => {
    await stage.cover(100, 200);
    // Never requested before: contracts are checked only at intervals.
    const fresh = addressOf(0xf4e54);
    for (const [path, kind, address] of [
      [WALLET, 'wallet', ALICE],
      [`/nft/${fresh}/transfers`, 'contract', fresh],
    ] as const) {
      const bounded = await stage.get(`${path}?from_block=100`);
      expect([bounded.indexed.complete, bounded.index_complete]).toEqual([true, true]);
      expect(await stage.histories()).not.toContain(`${kind} ${address}`);
      const whole = await stage.get(path);
      expect([whole.indexed, whole.index_complete]).toEqual([
        { from_block: '100', to_block: '200', complete: false },
        false,
      ]);
      expect(await stage.histories()).toContain(`${kind} ${address}`);
      await stage.database.query(
        sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block) VALUES (1, ${kind}, ${addressBytes(address)}, 'nft-transfers', 0, 150)`,
      );
      expect((await stage.get(path)).indexed).toEqual({ from_block: '0', to_block: '200', complete: true });
    }
    expect((await stage.get(`/nft/${fresh}/1/transfers`)).indexed.complete).toBe(true);
    expect((await stage.get(TOKEN)).indexed.complete).toBe(false);
  });
});

test('without their indexes pages are refused, with what to do', async () => {
  const bare = await openNftTransfersStage();
  try {
    await bare.database.query(sql`DROP INDEX nft_transfers_by_recipient, nft_transfers_by_range`);
    for (const [path, name] of [
      [WALLET, 'nft_transfers_by_recipient'],
      [TOKEN, 'nft_transfers_by_range'],
    ])
      expect(await bare.request(path ?? '')).toEqual({
        status: 503,
        body: {
          message: `Database indexes for this request are missing (${name}): build them with \`chainstead indexes\``,
          details: { indexes: [name] },
        },
      });
    expect((await bare.get(COLLECTION)).result).toEqual([]);
  } finally {
    await bare.close();
  }
});

test('a token’s route ignores blocks', async () => {
  for (const bound of ['from_block=-1', 'to_block=latest'])
    expect((await stage.request(`${TOKEN}?${bound}`)).status).toBe(200);
});

test('transactions whose value is not known yet have none, the others theirs', async () => {
  await seedMoves(stage.database, eth, movesIn(1, 2));
  await stage.carry(hashOf(2, 1_000), '0');
  expect((await stage.get(WALLET)).result.map((row) => row.value)).toEqual([null, '0']);
});
