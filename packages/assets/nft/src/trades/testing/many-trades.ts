import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Database, rawSql, runStatements, sql } from '@chainstead/db';
import { LOCAL_ACCESS } from '@chainstead/sync/ingest';
import { addressOf, coverBlocks, createPartitions } from '@chainstead/testkit';
import { saleDays } from '../sale-days.ts';
import { BUYER, COLLECTION, SELLER } from './seeded-trades.ts';

/** Sales of token 1: more than any page or statistic may read. */
export const MANY_SALES = 100_000;
/** Blocks from 1 on, one sale of token 1 in each. */
export const MANY_SALES_STEP_SECONDS = 240;

/** Number of sales in the stale statistics. */
const ANALYZED_SALES = 2_000;

export const RARE_MARKETPLACE = 'superrare';
export const WASH_TRADER: Address = addressOf(0x3a54);

/**
 * Seeds a collection with 100,000 sales of one token, four of five from one seller, 20,000 bundles of other tokens, and
 * three trades on a rare marketplace. A wallet traded 5,000 times with itself. One sale a block, the last one now.
 * @param end Unix seconds of the last block
 * @param cuts first blocks of the partitions, except the first
 */
export async function seedManyTrades(
  database: Database,
  chain: Chain,
  end: number,
  cuts: readonly number[],
): Promise<void> {
  await createPartitions(database, 'nft_trades', chain.id, cuts);
  const bytes = (address: Address): string => `'\\x${address.slice(2)}'::bytea`;
  const place = `number AS block_number, to_timestamp(${end} - (${MANY_SALES} - number) * ${MANY_SALES_STEP_SECONDS}::bigint) AS block_timestamp,
    sha256(number::text::bytea) AS hash`;
  const columns = `collection_key, token_address, chain_id, block_number, transaction_index, log_index, item, leads, token_id, token_ids, amounts,
    marketplace, protocol, marketplace_address, seller, buyer, side, payment_token, price, collections, transaction_hash, block_timestamp`;
  const collection = (address: Address): string =>
    `address_key(${bytes(address)}), ${bytes(address)}, ${chain.id}`;
  const nativeCurrency = 'NULL::bytea';
  const sale = (seller: string, buyer: string, marketplace: string, price: string): string =>
    `${marketplace}, 'seaport-1.5', ${bytes(addressOf(0x5ea))}, ${seller}, ${buyer}, 0, ${nativeCurrency}, ${price}, 1, hash, block_timestamp`;
  const seedSales = (first: number, last: number) =>
    database.query(
      sql`INSERT INTO nft_trades (${rawSql(columns)})
       SELECT ${rawSql(collection(COLLECTION))}, block_number, 0, 0, 0, true, 1, NULL, NULL,
         ${rawSql(
           sale(
             `CASE WHEN number % 5 = 0 THEN ${bytes(addressOf(5))} ELSE ${bytes(SELLER)} END`,
             bytes(BUYER),
             `CASE WHEN number % 40000 = 77 THEN '${RARE_MARKETPLACE}' WHEN number % 3 = 0 THEN 'blur' ELSE 'opensea' END`,
             `1000000000000000 + (number * 7919::bigint % 100003)`,
           ),
         )}
       FROM (SELECT number, ${rawSql(place)} FROM generate_series(${first}::bigint, ${last}::bigint) AS number) AS placed`,
    );
  await seedSales(1, ANALYZED_SALES);
  await database.query(sql`ANALYZE`);
  await seedSales(ANALYZED_SALES + 1, MANY_SALES);
  await database.query(
    sql`INSERT INTO nft_trades (${rawSql(columns)})
     SELECT ${rawSql(collection(COLLECTION))}, block_number, 1, 0, part, part = 0, 10 + part, '{10,11}', '{1,1}', ${rawSql(sale(bytes(addressOf(8)), bytes(addressOf(9)), `'opensea'`, '5'))}
     FROM (SELECT number, ${rawSql(place)} FROM generate_series(1, 20000) AS number) AS placed CROSS JOIN (VALUES (0), (1)) AS parts(part)`,
  );
  await database.query(
    sql`INSERT INTO nft_trades (${rawSql(columns)})
     SELECT ${rawSql(collection(addressOf(0x77)))}, block_number, 2, 0, 0, true, 1, NULL, NULL, ${rawSql(sale(bytes(WASH_TRADER), bytes(WASH_TRADER), `'opensea'`, '5'))}
     FROM (SELECT number, ${rawSql(place)} FROM generate_series(1, 5000) AS number) AS placed`,
  );
  await database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${rawSql(chain.id)}, block_number, hash, block_timestamp FROM (SELECT ${rawSql(place)} FROM generate_series(1, ${rawSql(MANY_SALES)}) AS number) AS placed`,
  );
  await runStatements(
    database,
    saleDays.added({ rows: rawSql('nft_trades'), subjects: rawSql(''), access: LOCAL_ACCESS }),
  );
  await coverBlocks(database, chain.id, 'nft-trades', 0, MANY_SALES);
}
