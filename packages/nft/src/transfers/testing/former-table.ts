import type { Database } from '@chainstead/db';

const FORMER_TABLE = 'nft_transfers_unpartitioned';

/** Makes the table that transfers were in before they were partitioned, and the view of both tables, as migrations leave them where it has rows. */
export async function createFormerTransfers(database: Database): Promise<void> {
  await database.query(`CREATE TABLE ${FORMER_TABLE} (
    token_address bytea NOT NULL, chain_id bigint NOT NULL, block_number bigint NOT NULL, transaction_index integer NOT NULL,
    log_index integer NOT NULL, item integer NOT NULL, kind smallint NOT NULL, token_id numeric(78,0) NOT NULL,
    last_token_id numeric(78,0), from_address bytea NOT NULL, to_address bytea NOT NULL, amount numeric(78,0) NOT NULL,
    operator bytea, transaction_hash bytea NOT NULL, block_hash bytea NOT NULL, block_timestamp timestamptz NOT NULL,
    CONSTRAINT ${FORMER_TABLE}_pkey PRIMARY KEY (token_address, chain_id, block_number, transaction_index, log_index, item))`);
  await database.query(`CREATE INDEX ${FORMER_TABLE}_by_token ON ${FORMER_TABLE}
    (token_address, chain_id, token_id, block_number, transaction_index, log_index, item)`);
  const shared = `item, kind, token_address, token_id, last_token_id, from_address, to_address, amount, operator, transaction_hash`;
  await database.query(`CREATE OR REPLACE VIEW nft_transfers_all AS
    SELECT collection_key, chain_id, block_number, transaction_index, log_index, ${shared} FROM nft_transfers
    UNION ALL
    SELECT address_key(token_address), chain_id, block_number::integer, transaction_index, log_index, ${shared} FROM ${FORMER_TABLE}`);
}

/**
 * Puts rows back to where they were before they were moved.
 * @param condition SQL over the columns of `nft_transfers`
 */
export async function moveTransfersBack(database: Database, condition: string): Promise<void> {
  await database.query(
    `WITH moved AS (DELETE FROM nft_transfers WHERE ${condition} RETURNING *)
     INSERT INTO ${FORMER_TABLE}
     SELECT token_address, chain_id, block_number, transaction_index, log_index, item, kind, token_id, last_token_id, from_address,
       to_address, amount, operator, transaction_hash, block_hash, block_timestamp FROM moved JOIN blocks USING (chain_id, block_number)`,
  );
}
