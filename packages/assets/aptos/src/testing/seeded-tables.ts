/** Large tables, generated in the database. */
import { type Database, rawSql, sql } from '@chainstead/db';

/** The content of {@link seedTables}. Addresses, coins and blocks are numbers in hexadecimal, padded. */
export const SEEDED = {
  coins: 40_000,
  /** Every transaction has a gas row and a deposit. */
  transactions: 60_000,
  balances: 60_000,
  /** Wallet in every second transaction, and holder of every coin with more than one holder. */
  busyWallet: 1,
  /** Coin type in three transactions of the busy wallet. */
  rareCoin: '0xa::rare::Coin',
  commonCoin: '0x1::aptos_coin::AptosCoin',
} as const;

/** Returns the second of a version's transaction: one per ten versions. */
export function secondOf(version: number): number {
  return 1_600_000_000 + Math.floor(version / 10);
}

/** Versions included in old statistics. */
const ANALYZED = 1_000;

/** One block per ten versions, all on mainnet. */
export async function seedTables(database: Database): Promise<void> {
  await seedVersions(database, 1, ANALYZED);
  await database.query(sql`ANALYZE`);
  await seedVersions(database, ANALYZED + 1, Math.max(SEEDED.coins, SEEDED.transactions, SEEDED.balances));
}

async function seedVersions(database: Database, first: number, last: number): Promise<void> {
  const { coins, transactions, balances, rareCoin, commonCoin } = SEEDED;
  const versions = (count: number) => `generate_series(${first}, ${Math.min(last, count)}) AS v`;
  const address = (number: string) => `decode(lpad(to_hex(${number}), 64, '0'), 'hex')`;
  const time = 'to_timestamp(1600000000 + v / 10)';
  const hash = (type: string) => `sha256(convert_to(${type}, 'UTF8'))`;
  await database.query(
    sql`INSERT INTO aptos_coins (network, coin_type_hash, coin_type, creator_address, name, symbol, decimals, transaction_version, transaction_timestamp)
     SELECT 'mainnet', ${rawSql(hash("'0xa::m::C' || v"))}, '0xa::m::C' || v, ${rawSql(address('v % 50'))}, 'Name ' || v % 1000, 'S' || v % 1000, 8, v, ${rawSql(time)}
     FROM ${rawSql(versions(coins))}`,
  );
  const wallet = `CASE v % 2 WHEN 0 THEN 1 ELSE 2 + v % 5000 END`;
  const coin = `CASE WHEN v % 20000 = 0 THEN '${rareCoin}' ELSE '0xa::m::C' || v % 7 END`;
  await database.query(
    sql`INSERT INTO aptos_transfers (network, owner_address, transaction_version, event_index, event_account_address, event_creation_number,
       event_sequence_number, activity_type, amount, block_height, coin_type, coin_type_hash, entry_function_id, is_gas_fee, is_transaction_success, transaction_timestamp)
     SELECT 'mainnet', owner, v, index, owner, 2, v, 'activity', 5, v / 10, type, ${rawSql(hash('type'))}, NULL, index = -1, true, ${rawSql(time)}
     FROM ${rawSql(versions(transactions))}, LATERAL (SELECT ${rawSql(address(wallet))} AS owner) AS wallets,
       LATERAL (VALUES (-1, '${rawSql(commonCoin)}'), (0, ${rawSql(coin)})) AS moved(index, type)`,
  );
  const history = (table: string, prefix: string, owner: string, type: string) =>
    `INSERT INTO ${table} (network, owner_address, coin_type_hash, coin_type, amount, ${prefix}transaction_version, ${prefix}transaction_timestamp)
     SELECT 'mainnet', ${address(owner)}, ${hash('type')}, type, (v * 7919) % 1000, v, ${time}
     FROM ${versions(balances)}, LATERAL (SELECT ${type} AS type) AS types`;
  await database.query(rawSql(history('aptos_balance_history', '', wallet, coin)));
  // The common coin has half of the holders, the busy wallet half of the coins.
  const holder = `CASE v % 2 WHEN 0 THEN v ELSE 1 END`;
  await database.query(
    rawSql(
      history(
        'aptos_balances',
        'last_',
        holder,
        `CASE v % 2 WHEN 0 THEN '${commonCoin}' ELSE '0xa::m::C' || v END`,
      ),
    ),
  );
}
