/** Writes blocks of a token chain as the sync engine does: rows, what is kept of wallets, blocks, coverage and checkpoint in one transaction. */
import type { Chain } from '@chainstead/chains';
import { type Database, hexBytes, type Transaction } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync';
import { createPartitions, seedBuilt, timestampOf } from '@chainstead/testkit';
import { erc20Transfers } from '../../transfers/dataset.ts';
import { toLog } from '../../transfers/testing/seeded-wallets.ts';
import { erc20WalletTokens } from '../../transfers/wallet-tokens.ts';
import type { TokenBlock } from './token-chain.ts';

const TABLE = 'erc20_transfers';
const NAME = erc20Transfers.name;

/** An empty database of the chain, which follows from this block on. */
export async function beginStoredChain(database: Database, chain: Chain, firstFollowed: number): Promise<void> {
  await createPartitions(database, TABLE, chain.id);
  await seedBuilt(database, chain.id, erc20WalletTokens);
  await database.query(
    'INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed) VALUES ($1, $2, $3, $3)',
    [chain.id, chain.key, firstFollowed],
  );
}

/** Follows some blocks; those above the ancestor are taken back first. */
export async function storeFollowed(
  database: Database,
  chain: Chain,
  blocks: readonly TokenBlock[],
  ancestor: number | null = null,
): Promise<void> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return;
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    if (ancestor !== null) await rollBack(transaction, chain, ancestor);
    await addBlocks(transaction, chain, blocks);
    await cover(transaction, chain, first.number, last.number);
    await transaction.query('UPDATE sync_chains SET checkpoint = $2, checkpoint_hash = $3 WHERE chain_id = $1', [
      chain.id,
      last.number,
      hexBytes(last.hash),
    ]);
  });
}

/** Backfills some blocks. */
export async function storeHistory(database: Database, chain: Chain, blocks: readonly TokenBlock[]): Promise<void> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return;
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    await addBlocks(transaction, chain, blocks);
    await cover(transaction, chain, first.number, last.number);
  });
}

async function rollBack(transaction: Transaction, chain: Chain, ancestor: number): Promise<void> {
  await emptyMoved(transaction);
  await transaction.query(
    `WITH gone AS (DELETE FROM ${TABLE} WHERE chain_id = $1 AND block_number > $2 RETURNING *) INSERT INTO moved SELECT * FROM gone`,
    [chain.id, ancestor],
  );
  await run(transaction, erc20WalletTokens.removed('moved', keptOf(chain), TABLE));
  await run(transaction, erc20WalletTokens.rolledBack?.(chain.id, ancestor) ?? []);
  await transaction.query('DELETE FROM blocks WHERE chain_id = $1 AND block_number > $2', [chain.id, ancestor]);
  await transaction.query('UPDATE sync_ranges SET last_block = $2 WHERE chain_id = $1 AND last_block > $2', [
    chain.id,
    ancestor,
  ]);
}

async function addBlocks(transaction: Transaction, chain: Chain, blocks: readonly TokenBlock[]): Promise<void> {
  await emptyMoved(transaction);
  const lines = blocks.flatMap(({ number, moves }) =>
    moves.flatMap((move, index) =>
      erc20Transfers
        .decode([toLog({ ...move, blockNumber: number, transactionIndex: index >> 1, logIndex: index })], {
          chain,
          timestampOf,
        })
        .map((row) => erc20Transfers.table.copyLine(row)),
    ),
  );
  await transaction.copy('moved', erc20Transfers.table.columns, lines);
  await transaction.query(`INSERT INTO ${TABLE} SELECT * FROM moved`);
  await run(transaction, erc20WalletTokens.added('moved', keptOf(chain)));
  await transaction.query(
    `INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp)
     SELECT $1, number, hash, to_timestamp(time) FROM unnest($2::bigint[], $3::bytea[], $4::bigint[]) AS block(number, hash, time)`,
    [
      chain.id,
      blocks.map(({ number }) => number),
      blocks.map(({ hash }) => hexBytes(hash)),
      blocks.map(({ number }) => timestampOf(number)),
    ],
  );
}

async function emptyMoved(transaction: Transaction): Promise<void> {
  await transaction.query(`CREATE TEMP TABLE IF NOT EXISTS moved (LIKE ${TABLE}) ON COMMIT DELETE ROWS`);
  await transaction.query('DELETE FROM moved');
}

async function run(transaction: Transaction, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await transaction.query(statement);
}

/** As the engine tells it: those that are asked about, each up to where its rows are counted. */
function keptOf(chain: Chain): string {
  return `(SELECT subject, coalesce(built_to, 1000000000) AS built_to FROM kept_subjects
    WHERE chain_id = ${chain.id} AND state = '${erc20WalletTokens.name}' AND NOT is_stale)`;
}

async function cover(transaction: Transaction, { id }: Chain, from: number, to: number): Promise<void> {
  const joined = await transaction.query<{ first_block: number; last_block: number }>(
    `DELETE FROM sync_ranges WHERE chain_id = $1 AND first_block <= $3::bigint + 1 AND last_block >= $2::bigint - 1 RETURNING first_block, last_block`,
    [id, from, to],
  );
  const first = Math.min(from, ...joined.map(({ first_block }) => first_block));
  const last = Math.max(to, ...joined.map(({ last_block }) => last_block));
  await transaction.query(
    `INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof) VALUES ($1, $2, $3, $4, 'none')`,
    [id, NAME, first, last],
  );
}
