import { afterEach, beforeEach, expect, test } from 'vitest';
import { type MigrationStage, openMigrationStage } from './testing/migration-stage.ts';

let stage: MigrationStage;
beforeEach(async () => {
  stage = await openMigrationStage();
});
afterEach(() => stage.close());

const bytes = (byte: string): string => `decode(repeat('${byte}', 20), 'hex')`;

const moved = (block: number, kind: number, from: string, to: string, amount: number): string =>
  `INSERT INTO nft_transfers (collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id,
     from_address, to_address, amount, transaction_hash)
   VALUES (address_key(${bytes('c0')}), 1, ${block}, 0, 1, 0, ${kind}, ${bytes('c0')}, ${kind}, ${bytes(from)}, ${bytes(to)}, ${amount}, ${bytes('dd')})`;

test('what wallets hold stays where it is, and owners in SQL are newest receivers', async () => {
  await stage.migrateThrough('0038_newest_receipts', [
    `INSERT INTO nft_wallet_tokens (wallet, chain_id, token_address, token_id, amount, last_block) VALUES (${bytes('a1')}, 1, ${bytes('c0')}, 5, 1, 9)`,
    'CREATE TABLE place PARTITION OF nft_transfers FOR VALUES FROM (1, MINVALUE) TO (1, MAXVALUE)',
    // One thing comes back to where it was before its first transfer; of the other kind some is kept.
    moved(1, 0, 'a1', 'b2', 1),
    moved(2, 0, 'b2', 'a1', 1),
    moved(3, 1, '00', 'b2', 7),
    moved(4, 1, 'b2', 'a1', 3),
    moved(5, 1, 'b2', 'b2', 3),
  ]);
  const { database } = stage.scratch;
  expect(await database.query('SELECT amount::int, last_block, newest FROM nft_wallet_tokens')).toEqual([
    { amount: 1, last_block: 9, newest: null },
  ]);
  const owners = await database.transaction(async (transaction) => {
    await transaction.query('SET LOCAL ROLE chainstead_reader');
    return transaction.query(
      'SELECT token_id::int, left(owner, 4) AS owner, amount::int FROM analytics.nft_owners ORDER BY 1, 2',
    );
  });
  expect(owners).toEqual([
    { token_id: 0, owner: '0xa1', amount: 1 },
    { token_id: 1, owner: '0xa1', amount: 3 },
    { token_id: 1, owner: '0xb2', amount: 4 },
  ]);
});
