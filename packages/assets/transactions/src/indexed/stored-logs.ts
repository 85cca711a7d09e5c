import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { hexBytes, type ReadDatabase, type Sql, sql } from '@chainstead/db';
import { hex, packedRows, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { areTablesSpread, type TransactionPosition } from '@chainstead/pages';
import { LOG_COLUMNS } from '../contract-logs/contract-logs-page.ts';
import { logs } from '../contract-logs/dataset.ts';
import type { TransactionRecord } from '../records/transaction-record.ts';

export interface StoredLog {
  readonly transactionIndex: number;
  readonly transactionHash: Hash;
  readonly record: TransactionRecord['logs'][number];
}

export async function readStoredLogs(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
  of: { readonly block: number; readonly transaction?: number },
): Promise<readonly StoredLog[]> {
  const transaction = sql`${of.transaction ?? null}::int`;
  const { rows } = await readPackedPage(
    database,
    LOGS,
    (select) =>
      sql`WITH found AS MATERIALIZED (SELECT * FROM logs WHERE chain_id = ${id} AND block_number = ${of.block}::int AND (${transaction} IS NULL OR transaction_index = ${transaction}))
      SELECT ${select} FROM ${LOGS.fitting('found')}`,
  );
  return readInOrder(rows);
}

async function readStoredLogsOf(
  database: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  places: readonly TransactionPosition[],
): Promise<readonly StoredLog[]> {
  const isSpread = await areTablesSpread(database);
  const { rows } = await readPackedPage(database, LOGS, (select) =>
    storedLogsStatement(chain, places, { select, isSpread }),
  );
  return readInOrder(rows);
}

/** OFFSET keeps it from becoming a join of whole partitions; Citus supports none over shards. */
export function storedLogsStatement(
  { id }: Pick<Chain, 'id'>,
  places: readonly TransactionPosition[],
  { select, isSpread }: { readonly select: Sql; readonly isSpread: boolean },
): Sql {
  const ofPlace = sql`log.chain_id = ${id} AND log.block_number = place.block_number AND log.transaction_index = place.transaction_index`;
  const lookup = isSpread
    ? sql`JOIN logs AS log ON ${ofPlace}`
    : sql`CROSS JOIN LATERAL (SELECT * FROM logs AS log WHERE ${ofPlace} OFFSET 0) AS log`;
  const [blocks, transactions] = [places.map(({ block }) => block), places.map(({ transaction }) => transaction)];
  return sql`WITH place AS MATERIALIZED (SELECT * FROM unnest(${blocks}::int[], ${transactions}::int[]) AS given (block_number, transaction_index)),
    found AS MATERIALIZED (SELECT log.* FROM place ${lookup}) SELECT ${select} FROM ${LOGS.fitting('found')}`;
}

function readInOrder(rows: readonly RowOf<typeof LOGS>[]): StoredLog[] {
  return rows
    .toSorted((left, right) => left.log_index - right.log_index)
    .map((row) => ({
      transactionIndex: row.transaction_index,
      transactionHash: row.transaction_hash,
      record: {
        index: row.log_index,
        address: row.address,
        topics: [row.topic0, row.topic1, row.topic2, row.topic3].flatMap((topic) => topic ?? []),
        data: `0x${row.data}`,
      },
    }));
}

const LOGS = packedRows({ ...LOG_COLUMNS, address: hex<Address>('address', 20) });

interface ShownTransaction extends TransactionPosition {
  readonly hash: Hash;
  readonly blockHash: Hash;
}

/** By transaction. Without incomplete blocks, and blocks that were replaced meanwhile. */
export async function readRetainedLogs(
  database: ReadDatabase,
  chain: Chain,
  transactions: readonly ShownTransaction[],
): Promise<ReadonlyMap<Hash, TransactionRecord['logs']>> {
  if (chain.logs !== 'all' || transactions.length === 0) return new Map();
  const before = await coveredOf(database, chain, transactions);
  const covered = transactions.filter(({ block }) => before.has(block));
  if (covered.length === 0) return new Map();
  const stored = await readStoredLogsOf(database, chain, covered);
  const byTransaction = Map.groupBy(stored, ({ transactionHash }) => transactionHash);
  // Separate reads are consistent if the block is still the same, and complete.
  const after = await coveredOf(database, chain, covered);
  return new Map(
    covered
      .filter(({ block }) => after.has(block))
      .map(({ hash }) => [hash, (byTransaction.get(hash) ?? []).map(({ record }) => record)]),
  );
}

async function coveredOf(database: ReadDatabase, { id }: Chain, transactions: readonly ShownTransaction[]) {
  const rows = await database.select<{ number: number }>(
    sql`SELECT DISTINCT requested.block_number AS number FROM unnest(${transactions.map(({ block }) => block)}::bigint[], ${transactions.map(({ blockHash }) => hexBytes(blockHash))}::bytea[]) AS requested (block_number, block_hash)
     JOIN blocks AS own ON own.chain_id = ${id} AND own.block_number = requested.block_number AND own.block_hash = requested.block_hash
     WHERE EXISTS (SELECT FROM sync_ranges AS range WHERE range.chain_id = ${id} AND range.dataset = ${logs.name} AND range.proof <> 'unproven'
       AND requested.block_number BETWEEN range.first_block AND range.last_block)`,
  );
  return new Set(rows.map(({ number }) => number));
}
