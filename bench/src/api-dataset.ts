import { type Address, parseChainId } from '@chainstead/core';
import { type Database, rawSql, type Sql, sql } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20/requests';
import { ensurePartitions } from '@chainstead/sync/ingest';
import { CHAIN_ID } from './bench-chain.ts';
import { dropIndexes } from './drop-indexes.ts';

/** Whom to ask for in the filled table. */
export interface ApiDataset {
  readonly rows: number;
  /** The wallets with the most transfers after the whale, each with a full page at least. */
  readonly busyWallets: readonly Address[];
  /** The wallet with a large share of all transfers. */
  readonly whale: Address;
  readonly whaleRows: number;
  /** A token of which the whale has three transfers. */
  readonly rareToken: Address;
}

export interface ApiDatasetPlan {
  readonly rows: number;
  readonly whaleRows: number;
  /** The whale's transfers of the rare token. */
  readonly rareRows: number;
}

const TRANSFERS_PER_BLOCK = 100;
const WALLETS = 50_000;
const TOKENS = 200;
const BUSY_WALLETS = 200;
/** Rows of so many blocks lie together in the heap, sorted by account, as the backfill writes them. */
const BLOCKS_PER_CHUNK = 120;

const WHALE = sql`substr(sha256('whale'), 1, 20)`;
const RARE_TOKEN = sql`substr(sha256('rare token'), 1, 20)`;
const ANY_WALLET = sql`substr(sha256(('wallet ' || floor(${rawSql(WALLETS)} * power(random(), 3)))::bytea), 1, 20)`;
const token = (number: Sql): Sql => sql`substr(sha256(('token ' || ${number})::bytea), 1, 20)`;
const hash = (kind: Sql, number: Sql): Sql => sql`sha256((${kind} || ' ' || ${number})::bytea)`;

/** Fills the production tables: skewed wallets and tokens, one huge wallet, indexes built after the rows. */
export async function fillApiDataset(database: Database, plan: ApiDatasetPlan): Promise<ApiDataset> {
  const transfers = Math.floor(plan.rows / 2);
  const blocks = Math.ceil(transfers / TRANSFERS_PER_BLOCK);
  const span = { from: 0, to: blocks };
  const density = { rows: plan.rows, blocks };
  await ensurePartitions(database, parseChainId(CHAIN_ID), [span], [{ table: erc20Transfers.table, density }]);
  const restoreIndexes = await dropIndexes(database, 'erc20_transfer_sides');
  await database.query(sql`SELECT setseed(0.42)`);
  await database.query(sql`CREATE UNLOGGED TABLE bench_transfers AS
    SELECT number / ${rawSql(TRANSFERS_PER_BLOCK)} + 1 AS block_number, number % ${rawSql(TRANSFERS_PER_BLOCK)} AS log_index,
      CASE WHEN by_whale THEN ${WHALE} ELSE ${ANY_WALLET} END AS sender, ${ANY_WALLET} AS receiver,
      CASE WHEN by_whale AND number % ${rawSql(Math.floor(transfers / plan.rareRows))} < ${rawSql(stride(plan, transfers))} AND number / ${rawSql(Math.floor(transfers / plan.rareRows))} < ${rawSql(plan.rareRows)}
        THEN ${RARE_TOKEN} ELSE ${token(sql`floor(${rawSql(TOKENS)} * power(random(), 2))`)} END AS token
    FROM (SELECT number, number % ${rawSql(stride(plan, transfers))} = 0 AS by_whale FROM generate_series(0, ${rawSql(transfers - 1)}) AS number) AS series`);
  await database.query(sql`INSERT INTO erc20_transfer_sides
      (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash)
    SELECT address_key(account), ${rawSql(CHAIN_ID)}, block_number, log_index / 2, log_index, direction, account, token, counterparty,
      1000000 + block_number, ${hash(sql`'transaction'`, sql`block_number || ' ' || log_index / 2`)}
    FROM bench_transfers CROSS JOIN LATERAL (VALUES (0, sender, receiver), (1, receiver, sender)) AS side(direction, account, counterparty)
    WHERE sender <> receiver
    ORDER BY block_number / ${rawSql(BLOCKS_PER_CHUNK)}, address_key(account), block_number, log_index`);
  await database.query(sql`DROP TABLE bench_transfers`);
  await fillSurroundings(database, blocks);
  await restoreIndexes();
  await database.query(sql`VACUUM ANALYZE`);
  return describe(database);
}

/** Every so manieth transfer is the whale's. */
function stride(plan: ApiDatasetPlan, transfers: number): number {
  return Math.max(2, Math.floor(transfers / plan.whaleRows));
}

/** Blocks, coverage, token metadata and labels, as next to the transfers of a running system. */
async function fillSurroundings(database: Database, blocks: number): Promise<void> {
  await database.query(sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
    SELECT ${rawSql(CHAIN_ID)}, number, ${hash(sql`'block'`, sql`number`)}, to_timestamp(1700000000 + number * 12) FROM generate_series(1, ${rawSql(blocks)}) AS number`);
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES (${CHAIN_ID}, 'erc20-transfers', 1, ${blocks}, 'receipts')`,
  );
  await database.query(sql`INSERT INTO tokens (address, chain_id, standard, name, symbol, decimals, facts_status)
    SELECT ${token(sql`number`)}, ${rawSql(CHAIN_ID)}, 'erc20', 'Token ' || number, 'T' || number, 18, 'known' FROM generate_series(0, ${rawSql(TOKENS - 1)}) AS number
    UNION ALL SELECT ${RARE_TOKEN}, ${rawSql(CHAIN_ID)}, 'erc20', 'Rare', 'RARE', 18, 'known'`);
  await database.query(sql`INSERT INTO address_labels (address, chain_id, source, label, entity)
    SELECT substr(sha256(('wallet ' || number)::bytea), 1, 20), 0, 'bench', 'Wallet ' || number, 'Exchange' FROM generate_series(0, 499) AS number`);
}

async function describe(database: Database): Promise<ApiDataset> {
  const accounts = await database.query<{ account: Address; rows: number }>(
    sql`SELECT '0x' || encode(account, 'hex') AS account, count(*) AS rows FROM erc20_transfer_sides GROUP BY account ORDER BY rows DESC LIMIT ${rawSql(BUSY_WALLETS + 1)}`,
  );
  const [facts] = await database.query<{ rows: number; whale: Address; whaleRows: number; rare: Address }>(
    sql`SELECT (SELECT count(*) FROM erc20_transfer_sides) AS rows, '0x' || encode(${WHALE}, 'hex') AS whale,
       (SELECT count(*) FROM erc20_transfer_sides WHERE account = ${WHALE}) AS whale_rows, '0x' || encode(${RARE_TOKEN}, 'hex') AS rare`,
  );
  if (facts === undefined) throw new RangeError('The filled table could not be described');
  return {
    rows: facts.rows,
    busyWallets: accounts.map((one) => one.account).filter((account) => account !== facts.whale),
    whale: facts.whale,
    whaleRows: facts.whaleRows,
    rareToken: facts.rare,
  };
}
