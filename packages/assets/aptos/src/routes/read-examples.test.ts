import { rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { seedCoins } from '../testing/seeded-rows.ts';
import { readAptosExamples } from './read-examples.ts';

const scratch = scratchOfFile();

test('examples come from the rows of the networks that are indexed', async () => {
  const empty = await readAptosExamples(scratch.database, ['mainnet']);
  expect(empty).toEqual({
    getLatestCoins: { limit: 10 },
    getCoinsBySymbolRange: { limit: 10 },
    getCoinsByNameRange: { limit: 10 },
  });
  await seedCoins(scratch.database, [{ version: 1, symbol: 'APT' }]);
  const { database } = scratch;
  const coin = `SELECT 'mainnet', decode(repeat('0a', 32), 'hex'), coin_type_hash, coin_type, 5, 2, now() FROM aptos_coins`;
  await database.query(
    sql`INSERT INTO aptos_balances (network, owner_address, coin_type_hash, coin_type, amount, last_transaction_version, last_transaction_timestamp) ${rawSql(coin)}`,
  );
  await database.query(
    sql`INSERT INTO aptos_balance_history (network, owner_address, coin_type_hash, coin_type, amount, transaction_version, transaction_timestamp) ${rawSql(coin)}`,
  );
  await database.query(
    sql`INSERT INTO aptos_transfers (network, owner_address, transaction_version, event_index, event_account_address, event_creation_number,
       event_sequence_number, activity_type, amount, block_height, coin_type, coin_type_hash, is_gas_fee, is_transaction_success, transaction_timestamp)
     SELECT network, creator_address, 2, 0, creator_address, 2, 1, 'activity', 5, 7, coin_type, coin_type_hash, false, true, now() FROM aptos_coins`,
  );
  expect(await readAptosExamples(scratch.database, ['testnet'])).toEqual(empty);
  const examples = await readAptosExamples(scratch.database, ['mainnet']);
  const address = expect.stringMatching(/^0x[0-9a-f]{64}$/);
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(examples).toMatchObject({
    getCoinsByCreators: { limit: 10, network: 'mainnet', creator_addresses: address },
    getCoinInfoByCoinTypeHashes: { network: 'mainnet', coin_type_hashes: hash },
    getCoinTransfersByBlockHeights: { block_heights: '7' },
    getCoinBalancesByWallets: { owner_addresses: `0x${'0a'.repeat(32)}` },
    getTopHoldersByCoin: { coin_type_hash: hash },
    getHistoricalCoinBalancesByWallets: { owner_addresses: address },
  });
});
