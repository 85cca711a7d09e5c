import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MigrationStage, openMigrationStage } from './testing/migration-stage.ts';

const BLOCKS = `INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
  SELECT 1, number, decode(repeat('e4', 32), 'hex'), '2026-01-01T00:00:00Z' FROM generate_series(7, 8) AS number`;
const TRANSFER = `INSERT INTO nft_transfers (token_address, chain_id, block_number, transaction_index, log_index, item, kind, token_id,
    last_token_id, from_address, to_address, amount, operator, transaction_hash, block_hash, block_timestamp)
  VALUES (decode(repeat('c0', 20), 'hex'), 1, 7, 1, 2, 3, 3, 2::numeric ^ 255, 2::numeric ^ 255 + 9, decode(repeat('a1', 20), 'hex'),
    decode(repeat('b2', 20), 'hex'), 5, decode(repeat('d3', 20), 'hex'), decode(repeat('d4', 32), 'hex'), decode(repeat('e4', 32), 'hex'),
    '2026-01-01T00:00:00Z')`;
const MOVED = `SELECT address_key(token_address), chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id,
  last_token_id, from_address, to_address, amount, operator, transaction_hash FROM nft_transfers_unpartitioned`;
const PLACE = 'CREATE TABLE place PARTITION OF nft_transfers FOR VALUES FROM (1, MINVALUE) TO (1, MAXVALUE)';

/** Of the view since 0004. */
const VIEW_COLUMNS = `chain_id, block_number, block_time, transaction_hash, transaction_index, log_index, item, event, token_address,
  collection_name, token_id, last_token_id, from_address, to_address, amount, operator, possible_spam, token_bytes, from_bytes, to_bytes`;
const SHOWN = {
  chain_id: 1,
  block_number: 7,
  block_time: new Date('2026-01-01T00:00:00Z'),
  transaction_hash: `0x${'d4'.repeat(32)}`,
  transaction_index: 1,
  log_index: 2,
  item: 3,
  event: 'erc2309',
  token_address: `0x${'c0'.repeat(20)}`,
  collection_name: null,
  token_id: (2n ** 255n).toString(),
  last_token_id: (2n ** 255n + 9n).toString(),
  from_address: `0x${'a1'.repeat(20)}`,
  to_address: `0x${'b2'.repeat(20)}`,
  amount: '5',
  operator: `0x${'d3'.repeat(20)}`,
  possible_spam: false,
  token_bytes: Buffer.alloc(20, 0xc0),
  from_bytes: Buffer.alloc(20, 0xa1),
  to_bytes: Buffer.alloc(20, 0xb2),
  is_of_collection: true,
  is_of_token: true,
};

describe('NFT transfers from before they were partitioned', () => {
  let stage: MigrationStage;
  let scratch: ScratchDatabase;

  beforeEach(async () => {
    stage = await openMigrationStage();
    scratch = stage.scratch;
  });
  afterEach(() => stage.close());

  const migrateWith = (...before: string[]) => stage.migrateThrough('0020_partitioned_nft_transfers', before);
  const shown = () =>
    scratch.database.transaction(async (transaction) => {
      await transaction.query('SET LOCAL ROLE chainstead_reader');
      return transaction.query(
        `SELECT ${VIEW_COLUMNS}, collection_key = analytics.collection_key(token_address) AND collection_key = analytics.collection_key(token_bytes) AS is_of_collection,
            token_id_key = analytics.token_id_key(token_id) AS is_of_token
           FROM analytics.nft_transfers ORDER BY block_number`,
      );
    });
  const relations = () => stage.relations('nft_transfers');

  test('stay in a table beside the new one, and are shown with those that come and those that move', async () => {
    await migrateWith(BLOCKS, TRANSFER);
    expect(await shown()).toEqual([SHOWN]);
    await scratch.database.query(PLACE);
    await scratch.database.query(`INSERT INTO nft_transfers ${MOVED}`);
    await scratch.database.query('UPDATE nft_transfers SET block_number = 8');
    expect(await shown()).toEqual([SHOWN, { ...SHOWN, block_number: 8 }]);
    await scratch.database.query(`INSERT INTO nft_transfers ${MOVED}`);
    await scratch.database.query('DELETE FROM nft_transfers_unpartitioned');
    expect(await shown()).toEqual([SHOWN, { ...SHOWN, block_number: 8 }]);
  });

  test('a bulk load may have left out their index by token', async () => {
    await migrateWith('DROP INDEX nft_transfers_by_token', BLOCKS, TRANSFER);
    expect(await relations()).toEqual([
      'nft_transfers p',
      'nft_transfers_all v',
      'nft_transfers_by_block I',
      'nft_transfers_by_range I',
      'nft_transfers_by_recipient I',
      'nft_transfers_by_sender I',
      'nft_transfers_by_token I',
      'nft_transfers_pkey I',
      'nft_transfers_unpartitioned r',
      'nft_transfers_unpartitioned_by_block i',
      'nft_transfers_unpartitioned_pkey i',
    ]);
  });

  test('an empty table leaves nothing behind', async () => {
    await migrateWith();
    expect(await relations()).toEqual([
      'nft_transfers p',
      'nft_transfers_all v',
      'nft_transfers_by_block I',
      'nft_transfers_by_range I',
      'nft_transfers_by_recipient I',
      'nft_transfers_by_sender I',
      'nft_transfers_by_token I',
      'nft_transfers_pkey I',
    ]);
    expect(await shown()).toEqual([]);
  });

  test("somebody's view over the one that is made anew is not lost: the migration fails and names it", async () => {
    const view = 'CREATE VIEW analytics.mine AS SELECT token_id FROM analytics.nft_transfers';
    await expect(migrateWith(view)).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      cause: expect.objectContaining({ detail: expect.stringContaining('analytics.mine') }),
    });
    expect(await scratch.database.query('SELECT count(*) AS n FROM analytics.mine')).toEqual([{ n: 0 }]);
  });
});

describe('the key of a token id', () => {
  let scratch: ScratchDatabase;

  beforeEach(async () => {
    scratch = await createScratchDatabase();
  });
  afterEach(() => scratch.drop());

  test('is one that an index may rely on', async () => {
    const [found] = await scratch.database.query(
      `SELECT provolatile AS volatility, proisstrict AS is_strict, proparallel AS parallel, prorettype::regtype::text AS type
         FROM pg_proc WHERE oid = 'hash_numeric'::regproc`,
    );
    expect(found).toEqual({ volatility: 'i', is_strict: true, parallel: 's', type: 'integer' });
  });

  test('is the same for equal ids, however they are written, and tells those of a collection apart', async () => {
    const [found] = await scratch.database.query(
      `SELECT token_id_key(5) = token_id_key(5.000) AND token_id_key(50) = token_id_key('5e1') AS are_same,
          (SELECT count(DISTINCT token_id_key(id)) FROM generate_series(0, 9999) AS id) AS counted,
          (SELECT count(DISTINCT token_id_key(2::numeric ^ 255 + id * 2::numeric ^ 128)) FROM generate_series(0, 9999) AS id) AS high`,
    );
    expect(found).toMatchObject({ are_same: true });
    // Of 10,000 numbers of 32 bits, 0.01 pairs are expected to share one.
    expect(found?.counted).toBeGreaterThanOrEqual(9_998);
    expect(found?.high).toBeGreaterThanOrEqual(9_998);
  });
});
