import type { ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MigrationStage, openMigrationStage } from './testing/migration-stage.ts';

const trade = (block: number, tokenIds: string, amounts: string): string =>
  `INSERT INTO nft_trades (token_address, chain_id, block_number, transaction_index, log_index, item, leads, token_id, token_ids, amounts,
    marketplace, protocol, marketplace_address, seller, buyer, side, payment_token, price, collections, transaction_hash, block_hash, block_timestamp)
  VALUES (decode(repeat('c0', 20), 'hex'), 1, ${block}, 1, 2, 3, true, 2::numeric ^ 255, ${tokenIds}, ${amounts}, 'opensea', 'seaport-1.6',
    decode(repeat('aa', 20), 'hex'), decode(repeat('a1', 20), 'hex'), decode(repeat('b2', 20), 'hex'), 1, decode(repeat('d3', 20), 'hex'), 5, 1,
    decode(repeat('d4', 32), 'hex'), decode(repeat('e4', 32), 'hex'), '2026-01-01T00:00:00Z')`;
const SALE = trade(7, 'ARRAY[2::numeric ^ 255]', "'{1}'");
const BUNDLE = trade(8, 'ARRAY[2::numeric ^ 255, 4]', "'{1,9}'");
const MOVED = `SELECT address_key(token_address), chain_id, block_number, transaction_index, log_index, item, block_timestamp, side, collections,
  leads, token_address, token_id, nullif(token_ids, ARRAY[token_id]), nullif(amounts, '{1}'), marketplace, protocol, marketplace_address, seller,
  buyer, payment_token, price, transaction_hash FROM nft_trades_unpartitioned`;
const PLACE = 'CREATE TABLE place PARTITION OF nft_trades FOR VALUES FROM (1, MINVALUE) TO (1, MAXVALUE)';

/** As the view has shown it since 0004, and what is new. */
const SHOWN = {
  chain_id: 1,
  block_number: 7,
  block_time: new Date('2026-01-01T00:00:00Z'),
  transaction_hash: `0x${'d4'.repeat(32)}`,
  transaction_index: 1,
  log_index: 2,
  item: 3,
  marketplace: 'opensea',
  protocol: 'seaport-1.6',
  marketplace_address: `0x${'aa'.repeat(20)}`,
  token_address: `0x${'c0'.repeat(20)}`,
  collection_name: null,
  token_ids: [(2n ** 255n).toString()],
  amounts: ['1'],
  seller: `0x${'a1'.repeat(20)}`,
  buyer: `0x${'b2'.repeat(20)}`,
  side: 'offer',
  payment_token: `0x${'d3'.repeat(20)}`,
  payment_symbol: null,
  price_base_units: '5',
  price: null,
  price_usd: null,
  collections: 1,
  is_bundle: false,
  is_wash: false,
  is_zero_price: false,
  possible_spam: false,
  token_bytes: Buffer.alloc(20, 0xc0),
  seller_bytes: Buffer.alloc(20, 0xa1),
  buyer_bytes: Buffer.alloc(20, 0xb2),
  payment_bytes: Buffer.alloc(20, 0xd3),
  are_keys: true,
};
const VIEW_COLUMNS = Object.keys(SHOWN).filter((name) => name !== 'are_keys');
const SHOWN_BUNDLE = {
  ...SHOWN,
  block_number: 8,
  token_ids: [(2n ** 255n).toString(), '4'],
  amounts: ['1', '9'],
  is_bundle: true,
};

describe('NFT trades from before they were partitioned', () => {
  let stage: MigrationStage;
  let scratch: ScratchDatabase;

  beforeEach(async () => {
    stage = await openMigrationStage();
    scratch = stage.scratch;
  });
  afterEach(() => stage.close());

  const migrateWith = (...before: string[]) => stage.migrateThrough('0021_partitioned_nft_trades', before);
  const shown = () =>
    scratch.database.transaction(async (transaction) => {
      await transaction.query('SET LOCAL ROLE chainstead_reader');
      return transaction.query(
        `SELECT ${VIEW_COLUMNS.join(', ')}, collection_key = analytics.collection_key(token_address) AND seller_key = analytics.wallet_key(seller)
            AND buyer_key = analytics.wallet_key(buyer) AS are_keys
           FROM analytics.nft_trades ORDER BY block_number`,
      );
    });
  const relations = () => stage.relations('nft_trades');
  const PARTITIONED = ['by_block', 'by_buyer', 'by_marketplace', 'by_seller', 'by_token', 'pkey'].map(
    (name) => `nft_trades_${name} I`,
  );

  test('stay in a table beside the new one, and are shown with those that come and those that move', async () => {
    await migrateWith(SALE, BUNDLE);
    expect(await shown()).toEqual([SHOWN, SHOWN_BUNDLE]);
    await scratch.database.query(PLACE);
    await scratch.database.query(`INSERT INTO nft_trades ${MOVED} WHERE block_number = 7`);
    await scratch.database.query('DELETE FROM nft_trades_unpartitioned WHERE block_number = 7');
    expect(await shown()).toEqual([SHOWN, SHOWN_BUNDLE]);
    await scratch.database.query(`INSERT INTO nft_trades ${MOVED}`);
    await scratch.database.query('DELETE FROM nft_trades_unpartitioned');
    expect(await shown()).toEqual([SHOWN, SHOWN_BUNDLE]);
    expect(await scratch.database.query('SELECT token_ids, amounts FROM nft_trades ORDER BY block_number')).toEqual([
      { token_ids: null, amounts: null },
      { token_ids: SHOWN_BUNDLE.token_ids, amounts: SHOWN_BUNDLE.amounts },
    ]);
    expect((await relations()).filter((name) => name.includes('unpartitioned'))).toEqual([
      'nft_trades_unpartitioned r',
      'nft_trades_unpartitioned_by_block i',
      'nft_trades_unpartitioned_by_buyer i',
      'nft_trades_unpartitioned_by_marketplace i',
      'nft_trades_unpartitioned_by_seller i',
      'nft_trades_unpartitioned_by_token i',
      'nft_trades_unpartitioned_pkey i',
    ]);
  });

  test('an empty table leaves nothing behind', async () => {
    await migrateWith();
    expect(await relations()).toEqual(['nft_trades p', 'nft_trades_all v', ...PARTITIONED]);
    expect(await shown()).toEqual([]);
  });

  test("somebody's view over the one that is made anew is not lost: the migration fails and names it", async () => {
    const view = 'CREATE VIEW analytics.mine AS SELECT price FROM analytics.nft_trades';
    await expect(migrateWith(view)).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      cause: expect.objectContaining({ detail: expect.stringContaining('analytics.mine') }),
    });
    expect(await scratch.database.query('SELECT count(*) AS n FROM analytics.mine')).toEqual([{ n: 0 }]);
  });
});
