import { createChainRegistry } from '@chainstead/chains';
import { addContract } from '@chainstead/contracts';
import { type Address, parseAddress } from '@chainstead/core';
import { addressBytes, type Database, rawSql, type Sql, sql } from '@chainstead/db';
import { createPartitions } from '@chainstead/testkit';
import { CHAIN_ID } from './bench-chain.ts';
import { CONTRACT_ABI, CONTRACT_TABLE } from './contract-run.ts';

/** What to request from the filled table. */
export interface ContractDataset {
  /** Receiver of `ownerRows` of the rows, which are spread over all blocks. */
  readonly owner: Address;
}

const ROWS_PER_BLOCK = 20;
const TOKEN = parseAddress(`0x${'70'.repeat(20)}`);
const OWNER = parseAddress(`0x${'0a'.repeat(20)}`);
const account = (number: Sql): Sql => sql`substr(sha256((${number})::bytea), 1, 20)`;

/** Adds a contract with an index on the receiver, and fills its table and blocks. All blocks are covered. */
export async function fillContractDataset(
  database: Database,
  { rows, ownerRows }: { readonly rows: number; readonly ownerRows: number },
): Promise<ContractDataset> {
  await addContract(database, {
    ...{ name: 'token', chain: createChainRegistry().get(CHAIN_ID), addresses: [TOKEN], factory: null },
    ...{ abi: CONTRACT_ABI, firstBlock: 0, events: null, indexed: ['to_'] },
  });
  const last = Math.ceil(rows / ROWS_PER_BLOCK) - 1;
  await database.query(sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
    SELECT ${rawSql(CHAIN_ID)}, number, sha256(('block ' || number)::bytea), to_timestamp(1700000000 + number * 12)
    FROM generate_series(0, ${rawSql(last)}) AS number`);
  await createPartitions(database, CONTRACT_TABLE, createChainRegistry().get(CHAIN_ID).id);
  await database.query(
    sql`INSERT INTO ${rawSql(CONTRACT_TABLE)} (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract, from_, to_, value)
     SELECT ${rawSql(CHAIN_ID)}, number / ${rawSql(ROWS_PER_BLOCK)}, number % ${rawSql(ROWS_PER_BLOCK)}, number % ${rawSql(ROWS_PER_BLOCK)},
       to_timestamp(1700000000 + (number / ${rawSql(ROWS_PER_BLOCK)}) * 12), sha256(('transaction ' || number)::bytea), ${addressBytes(TOKEN)},
       ${account(sql`'sender ' || number % 5000`)}, CASE WHEN number % ${Math.floor(rows / ownerRows)} = 0 THEN ${addressBytes(OWNER)} ELSE ${account(sql`'receiver ' || number % 20000`)} END,
       number * 10::numeric ^ 15
     FROM generate_series(0, ${rows}::int - 1) AS number`,
  );
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (${CHAIN_ID}, ${CONTRACT_TABLE}, 0, ${last}, 'receipts')`,
  );
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint) VALUES (${CHAIN_ID}, 0, ${last + 1}, null)`,
  );
  await database.query(sql`VACUUM ANALYZE`);
  return { owner: OWNER };
}
