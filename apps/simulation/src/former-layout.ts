/** Puts transfers back to where versions before the partitions had them: what a program finds that was upgraded while it was down. */
import type { Database } from '@chainstead/db';

const FORMER = 'erc20_transfers_unpartitioned';
const FORMER_COLUMNS = `account bytea NOT NULL, chain_id bigint NOT NULL, block_number bigint NOT NULL, transaction_index integer NOT NULL,
  log_index integer NOT NULL, direction smallint NOT NULL, token bytea NOT NULL, counterparty bytea NOT NULL, value numeric(78,0) NOT NULL,
  transaction_hash bytea NOT NULL, block_hash bytea NOT NULL, block_timestamp timestamptz NOT NULL,
  PRIMARY KEY (account, chain_id, block_number, transaction_index, log_index)`;

/** Of each `every` blocks one keeps its rows where they are. Nothing else may be writing. */
export async function backToFormerLayout(database: Database, every: number): Promise<void> {
  await database.query(`CREATE TABLE IF NOT EXISTS ${FORMER} (${FORMER_COLUMNS})`);
  await database.query(
    `WITH moved AS (DELETE FROM erc20_transfers WHERE block_number % $1 <> 0 RETURNING *)
     INSERT INTO ${FORMER} SELECT account, chain_id, block_number, transaction_index, log_index, direction, token, counterparty, value,
       transaction_hash, block_hash, block_timestamp FROM moved JOIN blocks USING (chain_id, block_number)`,
    [every],
  );
}

/** Rows that have not been moved yet. */
export async function countFormerRows(database: Database): Promise<number> {
  const [table] = await database.query<{ exists: boolean }>(`SELECT to_regclass('${FORMER}') IS NOT NULL AS exists`);
  if (table?.exists !== true) return 0;
  const [counted] = await database.query<{ rows: number }>(`SELECT count(*)::int AS rows FROM ${FORMER}`);
  return counted?.rows ?? 0;
}
