import type { Database } from '@chainstead/db';
import { FORMER_TABLE } from '../schema.ts';

/** Makes the table that transfers were in before they were partitioned, as migrations of the time left it. */
export async function createFormerTable(database: Database): Promise<void> {
  await database.query(`CREATE TABLE ${FORMER_TABLE} (
    account bytea NOT NULL, chain_id bigint NOT NULL, block_number bigint NOT NULL, transaction_index integer NOT NULL,
    log_index integer NOT NULL, direction smallint NOT NULL, token bytea NOT NULL, counterparty bytea NOT NULL,
    value numeric(78,0) NOT NULL, transaction_hash bytea NOT NULL, block_hash bytea NOT NULL, block_timestamp timestamptz NOT NULL,
    CONSTRAINT ${FORMER_TABLE}_pkey PRIMARY KEY (account, chain_id, block_number, transaction_index, log_index))`);
  await database.query(`CREATE INDEX ${FORMER_TABLE}_by_token ON ${FORMER_TABLE}
    (account, chain_id, token, block_number, transaction_index, log_index)`);
}

/**
 * Puts rows back to where they were before they were moved.
 * @param condition SQL over the columns of `erc20_transfers`
 */
export async function moveBack(database: Database, condition: string): Promise<void> {
  await database.query(
    `WITH moved AS (DELETE FROM erc20_transfers WHERE ${condition} RETURNING *)
     INSERT INTO ${FORMER_TABLE} (account, chain_id, block_number, transaction_index, log_index, direction, token, counterparty, value,
       transaction_hash, block_hash, block_timestamp)
     SELECT account, chain_id, block_number, transaction_index, log_index, direction, token, counterparty, value, transaction_hash,
       block_hash, block_timestamp FROM moved JOIN blocks USING (chain_id, block_number)`,
  );
}

/** Moves all rows that are left in the former table. */
export async function moveTheRest(database: Database): Promise<void> {
  await database.query(
    `WITH moved AS (DELETE FROM ${FORMER_TABLE} RETURNING *)
     INSERT INTO erc20_transfers (account_key, account, chain_id, block_number, transaction_index, log_index, direction, token,
       counterparty, value, transaction_hash)
     SELECT address_key(account), account, chain_id, block_number, transaction_index, log_index, direction, token, counterparty, value,
       transaction_hash FROM moved`,
  );
}
