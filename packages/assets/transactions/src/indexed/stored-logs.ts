import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { type ReadDatabase, type Sql, sql } from '@chainstead/db';
import { hex, packedRows, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { areTablesSpread, type TransactionPosition } from '@chainstead/pages';
import { LOG_COLUMNS } from '../contract-logs/log-columns.ts';
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

export async function readStoredLogsOf(
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

const LOGS = packedRows({ ...LOG_COLUMNS, address: hex('address', 20) });
