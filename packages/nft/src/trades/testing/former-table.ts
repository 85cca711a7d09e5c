import type { Database } from '@chainstead/db';
import { FORMER_TABLE } from '../schema.ts';

/** Columns that were and are the same. */
const SHARED = `chain_id, transaction_index, log_index, item, leads, token_address, token_id, marketplace, protocol, marketplace_address, seller,
  buyer, side, payment_token, price, collections, transaction_hash, block_timestamp`;
const PRESENT = `collection_key, chain_id, block_number, transaction_index, log_index, item, block_timestamp, side, collections, leads,
  token_address, token_id, token_ids, amounts, marketplace, protocol, marketplace_address, seller, buyer, payment_token, price, transaction_hash`;
const IN_PRESENT_COLUMNS = `address_key(token_address), chain_id, block_number::integer, transaction_index, log_index, item, block_timestamp,
  side, collections, leads, token_address, token_id, nullif(token_ids, ARRAY[token_id]), nullif(amounts, '{1}'), marketplace, protocol,
  marketplace_address, seller, buyer, payment_token, price, transaction_hash`;
const PLACE = 'block_number, transaction_index, log_index, item';

/** Makes the table that trades were in before they were partitioned, and the view of both tables, as migrations leave them where it has rows. */
export async function createFormerTrades(database: Database): Promise<void> {
  await database.query(`CREATE TABLE ${FORMER_TABLE} (
    token_address bytea NOT NULL, chain_id bigint NOT NULL, block_number bigint NOT NULL, transaction_index integer NOT NULL,
    log_index integer NOT NULL, item integer NOT NULL, leads boolean NOT NULL, token_id numeric(78,0) NOT NULL,
    token_ids numeric(78,0)[] NOT NULL, amounts numeric(78,0)[] NOT NULL, marketplace text NOT NULL, protocol text NOT NULL,
    marketplace_address bytea NOT NULL, seller bytea NOT NULL, buyer bytea NOT NULL, side smallint NOT NULL, payment_token bytea,
    price numeric, collections smallint NOT NULL, transaction_hash bytea NOT NULL, block_hash bytea NOT NULL, block_timestamp timestamptz NOT NULL,
    CONSTRAINT ${FORMER_TABLE}_pkey PRIMARY KEY (token_address, chain_id, ${PLACE}))`);
  const index = (name: string, columns: string) =>
    database.query(`CREATE INDEX ${FORMER_TABLE}_${name} ON ${FORMER_TABLE} ${columns}`);
  await index('by_token', `(token_address, chain_id, token_id, ${PLACE})`);
  await index('by_marketplace', `(token_address, chain_id, marketplace, ${PLACE}) WHERE leads`);
  await index('by_seller', `(seller, chain_id, ${PLACE}) WHERE leads`);
  await index('by_buyer', `(buyer, chain_id, ${PLACE}) WHERE leads`);
  await database.query(`CREATE OR REPLACE VIEW nft_trades_all AS
    SELECT ${PRESENT} FROM nft_trades UNION ALL SELECT ${IN_PRESENT_COLUMNS} FROM ${FORMER_TABLE}`);
}

/**
 * Puts rows back to where they were before they were moved.
 * @param condition SQL over the columns of `nft_trades`
 */
export async function moveTradesBack(database: Database, condition: string): Promise<void> {
  await database.query(
    `WITH moved AS (DELETE FROM nft_trades WHERE ${condition} RETURNING *)
     INSERT INTO ${FORMER_TABLE} (block_number, token_ids, amounts, block_hash, ${SHARED})
     SELECT block_number, coalesce(token_ids, ARRAY[token_id]), coalesce(amounts, '{1}'),
       (SELECT block_hash FROM blocks WHERE blocks.chain_id = moved.chain_id AND blocks.block_number = moved.block_number), ${SHARED} FROM moved`,
  );
}

/** Moves all rows that are left in the former table. */
export async function moveRestOfTrades(database: Database): Promise<void> {
  await database.query(
    `WITH moved AS (DELETE FROM ${FORMER_TABLE} RETURNING *)
     INSERT INTO nft_trades (${PRESENT}) SELECT ${IN_PRESENT_COLUMNS} FROM moved`,
  );
}
