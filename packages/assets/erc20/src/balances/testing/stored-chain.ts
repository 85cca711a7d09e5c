/** Writes blocks like the sync engine: rows, wallet projections, blocks, coverage and checkpoint in one transaction. */
import type { Chain } from '@chainstead/chains';
import { type Database, hexBytes, rawSql, runStatements, type Sql, sql, type Transaction } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { Dataset } from '@chainstead/sync/datasets';
import { runProjection } from '@chainstead/sync/ingest';
import { coverBlocks, createPartitions, seedBuilt, timestampOf } from '@chainstead/testkit';
import { MOVED_TABLES } from '../../moved-tables.ts';
import { erc20Transfers } from '../../transfers/dataset.ts';
import type { Erc20TransferRow } from '../../transfers/schema.ts';
import { toLog } from '../../transfers/testing/seeded-wallets.ts';
import { erc20WalletTokens } from '../../transfers/wallet-tokens.ts';
import { wrappedCoinMoves } from '../../wrapped/dataset.ts';
import { coinLog, isWrapping } from '../../wrapped/testing/coin-log.ts';
import type { TokenBlock } from './token-chain.ts';

type MovedDataset = Dataset<Erc20TransferRow>;

/** Returns the indexed datasets of a chain, with wrapping and unwrapping or without it, like an older version. */
export function movedDatasets({ wrappedNative }: Chain, isCoinIndexed: boolean): readonly MovedDataset[] {
  return wrappedNative === null || !isCoinIndexed ? [erc20Transfers] : [erc20Transfers, wrappedCoinMoves];
}

/** Prepares an empty database for a chain that is followed from this block on. */
export async function beginStoredChain(database: Database, chain: Chain, firstFollowed: number): Promise<void> {
  for (const { name } of MOVED_TABLES) await createPartitions(database, name, chain.id);
  await seedBuilt(database, chain.id, erc20WalletTokens);
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed) VALUES (${chain.id}, ${chain.key}, ${firstFollowed}, ${firstFollowed})`,
  );
}

/** Follows some blocks after rolling back those above the ancestor. */
export async function storeFollowed(
  database: Database,
  chain: Chain,
  { blocks, datasets, ancestor = null }: Followed,
): Promise<void> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return;
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    if (ancestor !== null) await rollBack(transaction, chain, ancestor);
    await addRows(transaction, chain, blocks, datasets);
    await addBlocks(transaction, chain, blocks);
    await cover(transaction, chain, datasets, first.number, last.number);
    await transaction.query(
      sql`UPDATE sync_chains SET checkpoint = ${last.number}, checkpoint_hash = ${hexBytes(last.hash)} WHERE chain_id = ${chain.id}`,
    );
  });
}

interface Followed {
  readonly blocks: readonly TokenBlock[];
  readonly datasets: readonly MovedDataset[];
  readonly ancestor?: number | null;
}

/** Backfills some blocks. */
export async function storeHistory(
  database: Database,
  chain: Chain,
  blocks: readonly TokenBlock[],
  datasets: readonly MovedDataset[],
): Promise<void> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return;
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    await addRows(transaction, chain, blocks, datasets);
    await addBlocks(transaction, chain, blocks);
    await cover(transaction, chain, datasets, first.number, last.number);
  });
}

/** Backfills deposits and withdrawals in those blocks that lack them and whose transfers are indexed. */
export async function storeCoin(database: Database, chain: Chain, blocks: readonly TokenBlock[]): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    const ranges = await transaction.query<{ dataset: string; firstBlock: number; lastBlock: number }>(
      sql`SELECT dataset, first_block, last_block FROM sync_ranges WHERE chain_id = ${chain.id}`,
    );
    const isCovered = ({ name }: MovedDataset, { number }: TokenBlock): boolean =>
      ranges.some((one) => one.dataset === name && one.firstBlock <= number && number <= one.lastBlock);
    for (const block of blocks.filter(
      (one) => isCovered(erc20Transfers, one) && !isCovered(wrappedCoinMoves, one),
    )) {
      await addRows(transaction, chain, [block], [wrappedCoinMoves]);
      await cover(transaction, chain, [wrappedCoinMoves], block.number, block.number);
    }
  });
}

async function rollBack(transaction: Transaction, chain: Chain, ancestor: number): Promise<void> {
  await emptyMoved(transaction);
  for (const { name } of MOVED_TABLES)
    await transaction.query(
      sql`WITH gone AS (DELETE FROM ${rawSql(name)} WHERE chain_id = ${chain.id} AND block_number > ${ancestor} RETURNING *) INSERT INTO moved SELECT * FROM gone`,
    );
  // Some chains run as if tables were distributed.
  await runProjection(transaction, chain.id % 2 === 0, (access) =>
    erc20WalletTokens.removed({ rows: MOVED, subjects: subjectsOf(chain), remaining: ALL_MOVED, access }),
  );
  await runStatements(transaction, erc20WalletTokens.rolledBack?.(chain.id, ancestor) ?? []);
  await transaction.query(sql`DELETE FROM blocks WHERE chain_id = ${chain.id} AND block_number > ${ancestor}`);
  await transaction.query(
    sql`DELETE FROM sync_ranges WHERE chain_id = ${chain.id} AND first_block > ${ancestor}`,
  );
  await transaction.query(
    sql`UPDATE sync_ranges SET last_block = ${ancestor} WHERE chain_id = ${chain.id} AND last_block > ${ancestor}`,
  );
}

/** All counted rows. */
const ALL_MOVED = rawSql(
  `(${MOVED_TABLES.map(({ name, columns }) => `SELECT ${columns.join(', ')} FROM ${name}`).join(' UNION ALL ')})`,
);
const MOVED = rawSql('moved');

async function addRows(
  transaction: Transaction,
  chain: Chain,
  blocks: readonly TokenBlock[],
  datasets: readonly MovedDataset[],
): Promise<void> {
  await emptyMoved(transaction);
  const logs = blocks.flatMap(({ number, moves }) =>
    moves.map((move, index) => {
      const moved = { ...move, blockNumber: number, transactionIndex: index >> 1, logIndex: index };
      return isWrapping(chain.wrappedNative, move) ? coinLog(moved) : toLog(moved);
    }),
  );
  for (const { table, decode } of datasets) {
    const lines = decode(logs, { chain, timestampOf }).map((row) => table.copyLine(row));
    await transaction.copy(table.name, table.columns, lines);
    await transaction.copy('moved', table.columns, lines);
  }
  await runProjection(transaction, chain.id % 2 === 0, (access) =>
    erc20WalletTokens.added({ rows: MOVED, subjects: subjectsOf(chain), access }),
  );
}

async function addBlocks(transaction: Transaction, chain: Chain, blocks: readonly TokenBlock[]): Promise<void> {
  await transaction.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT ${chain.id}, number, hash, to_timestamp(time) FROM unnest(${blocks.map(({ number }) => number)}::bigint[], ${blocks.map(({ hash }) => hexBytes(hash))}::bytea[], ${blocks.map(({ number }) => timestampOf(number))}::bigint[]) AS block(number, hash, time)`,
  );
}

async function emptyMoved(transaction: Transaction): Promise<void> {
  await transaction.query(
    sql`CREATE TEMP TABLE IF NOT EXISTS moved (LIKE erc20_transfer_sides) ON COMMIT DELETE ROWS`,
  );
  await transaction.query(sql`DELETE FROM moved`);
}

/** Like in the engine: requested wallets, each with the block up to which its rows are counted. */
function subjectsOf(chain: Chain): Sql {
  return sql`(SELECT subject, coalesce(built_to, 1000000000) AS built_to FROM subject_projections
    WHERE chain_id = ${chain.id} AND state = ${erc20WalletTokens.name} AND NOT is_stale)`;
}

async function cover(
  transaction: Transaction,
  { id }: Chain,
  datasets: readonly MovedDataset[],
  from: number,
  to: number,
): Promise<void> {
  for (const { name } of datasets) {
    const joined = await transaction.query<{ firstBlock: number; lastBlock: number }>(
      sql`DELETE FROM sync_ranges WHERE chain_id = ${id} AND dataset = ${name} AND first_block <= ${to}::bigint + 1 AND last_block >= ${from}::bigint - 1
       RETURNING first_block, last_block`,
    );
    const first = Math.min(from, ...joined.map(({ firstBlock }) => firstBlock));
    const last = Math.max(to, ...joined.map(({ lastBlock }) => lastBlock));
    await coverBlocks(transaction, id, name, first, last, 'none');
  }
}
