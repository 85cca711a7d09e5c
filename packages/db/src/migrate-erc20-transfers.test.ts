import type { ScratchDatabase } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MigrationStage, openMigrationStage } from './testing/migration-stage.ts';

describe('ERC-20 transfers from before they were partitioned', () => {
  let stage: MigrationStage;
  let scratch: ScratchDatabase;

  beforeEach(async () => {
    stage = await openMigrationStage();
    scratch = stage.scratch;
  });
  afterEach(() => stage.close());

  const migrateWith = (...before: string[]) => stage.migrateThrough('0019_partitioned_transfers', before);
  const relations = () => stage.relations('erc20_transfers');
  const TRANSFER = `INSERT INTO erc20_transfers (account, chain_id, block_number, transaction_index, log_index, direction, token,
      counterparty, value, transaction_hash, block_hash, block_timestamp)
    VALUES (decode(repeat('a1', 20), 'hex'), 1, 7, 0, 0, 0, decode(repeat('c0', 20), 'hex'), decode(repeat('b2', 20), 'hex'), 5,
      decode(repeat('d3', 32), 'hex'), decode(repeat('e4', 32), 'hex'), '2026-01-01T00:00:00Z')`;
  const BLOCK = `INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
    SELECT 1, number, decode(repeat('e4', 32), 'hex'), '2026-01-01T00:00:00Z' FROM generate_series(7, 8) AS number`;
  const views = () =>
    scratch.database.transaction(async (transaction) => {
      await transaction.query('SET LOCAL ROLE chainstead_reader');
      return transaction.query(
        `SELECT block_number, wallet, wallet_key = analytics.wallet_key(wallet) AS of_key, block_time, direction,
            (SELECT count(*) FROM analytics.erc20_transfers WHERE block_number = wallet_transfers.block_number) AS transfers
           FROM analytics.wallet_transfers ORDER BY block_number`,
      );
    });
  const shown = (block: number) => ({
    block_number: block,
    wallet: `0x${'a1'.repeat(20)}`,
    of_key: true,
    block_time: new Date('2026-01-01T00:00:00Z'),
    direction: 'out',
    transfers: 1,
  });

  test('stay in a table beside the new one, and are shown with those that come and those that move', async () => {
    await migrateWith(BLOCK, TRANSFER);
    expect(await views()).toEqual([shown(7)]);
    await scratch.database.query(
      'CREATE TABLE place PARTITION OF erc20_transfers FOR VALUES FROM (1, MINVALUE) TO (1, MAXVALUE)',
    );
    const move = (block: string): string =>
      `INSERT INTO erc20_transfers SELECT address_key(account), chain_id, ${block}, transaction_index, log_index, direction,
         account, token, counterparty, value, transaction_hash FROM erc20_transfers_unpartitioned`;
    await scratch.database.query(move('8'));
    expect(await views()).toEqual([shown(7), shown(8)]);
    await scratch.database.query(move('7'));
    await scratch.database.query('DELETE FROM erc20_transfers_unpartitioned');
    expect(await views()).toEqual([shown(7), shown(8)]);
  });

  test('a bulk load may have left out their index by token', async () => {
    await migrateWith('DROP INDEX erc20_transfers_by_token', BLOCK, TRANSFER);
    expect(await relations()).toEqual([
      'erc20_transfers p',
      'erc20_transfers_all v',
      'erc20_transfers_by_block I',
      'erc20_transfers_by_contract I',
      'erc20_transfers_by_token I',
      'erc20_transfers_pkey I',
      'erc20_transfers_unpartitioned r',
      'erc20_transfers_unpartitioned_by_block i',
      'erc20_transfers_unpartitioned_pkey i',
    ]);
  });

  test('an empty table leaves nothing behind', async () => {
    await migrateWith();
    expect(await relations()).toEqual([
      'erc20_transfers p',
      'erc20_transfers_all v',
      'erc20_transfers_by_block I',
      'erc20_transfers_by_contract I',
      'erc20_transfers_by_token I',
      'erc20_transfers_pkey I',
    ]);
    expect(await views()).toEqual([]);
  });

  test("somebody's view over the ones that are made anew is not lost: the migration fails and names it", async () => {
    const view = 'CREATE VIEW analytics.mine AS SELECT wallet FROM analytics.wallet_transfers';
    await expect(migrateWith(view)).rejects.toMatchObject({
      code: 'MIGRATION_FAILED',
      cause: expect.objectContaining({ detail: expect.stringContaining('analytics.mine') }),
    });
    expect(await scratch.database.query('SELECT count(*) AS n FROM analytics.mine')).toEqual([{ n: 0 }]);
  });
});
