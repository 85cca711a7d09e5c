import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  joinSql,
  type KeysetOrder,
  type ReadDatabase,
  rawSql,
  rowsAfterInPartitions,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import {
  boolean,
  digits,
  hex,
  int4,
  int8,
  type PackedColumn,
  type PackedRows,
  type PackedTexts,
  packedRows,
  readPackedPage,
} from '@chainstead/db/packed-rows';
import {
  blocksOf,
  type Indexed,
  type IndexedColumns,
  type PageBlock,
  type PageBounds,
  pageRange,
  readBlocks,
  readConsistentPage,
  readIndexed,
  scanRange,
} from '@chainstead/pages';
import type { AccountEvents } from './account-events.ts';

interface RowPlace {
  readonly block_number: number;
  readonly transaction_index: number;
  readonly log_index: number;
}

interface AccountRow extends RowPlace {
  readonly transaction_hash: Hash;
  /** Columns of fields. */
  readonly [column: string]: unknown;
}

export interface AccountRowsQuery extends PageBounds {
  readonly account: Address;
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  readonly after: RowPlace | null;
}

interface AccountRowsPage {
  readonly rows: readonly (AccountRow & { readonly block: PageBlock })[];
  readonly indexed: Indexed;
  /** The last row and the run's highest block; null on the last page. */
  readonly next: { readonly position: RowPlace; readonly upperBound: number } | null;
}

type AccountTable = Pick<AccountEvents, 'name' | 'table' | 'fields'>;

export function getAccountRows(
  database: ReadDatabase,
  chain: Chain,
  dataset: AccountTable,
  query: AccountRowsQuery,
): Promise<AccountRowsPage> {
  return readConsistentPage(async () => {
    const { rows, page } = await readPackedPage<AccountRow, RowsPage>(database, packedRowsOf(dataset), (select) =>
      accountRowsStatement(chain, dataset, query, select),
    );
    const blockOf = readBlocks(page.blocks, rows);
    const last = rows.length > query.limit ? rows[query.limit - 1] : undefined;
    const { block_number = 0, transaction_index = 0, log_index = 0 } = last ?? {};
    const upperBound = query.pinnedBlock ?? page.newest ?? block_number;
    return {
      rows: rows.slice(0, query.limit).map((row) => ({ ...row, block: blockOf(row) })),
      indexed: readIndexed(page),
      next: last === undefined ? null : { position: { block_number, transaction_index, log_index }, upperBound },
    };
  });
}

/**
 * One range of the primary key per partition. The whole address is expected true: the planner
 * never sorts all rows of an account.
 */
export function accountRowsStatement(
  chain: Chain,
  dataset: AccountTable,
  query: AccountRowsQuery,
  select = packedRowsOf(dataset).select,
): Sql {
  const chainId = sql`${chain.id}`;
  const table = dataset.table.name;
  const { ctes, lower, upper, complete } = pageRange(chain, chainId, dataset.name, query, null);
  const after = query.after === null ? null : placesAfter(query.order, query.after);
  const bounds = scanRange(query.order, { lower, upper }, after);
  const ofAccount = [
    sql`account_key = ${addressKey(query.account)}`,
    expectedTrue(sql`account = ${addressBytes(query.account)}`),
    sql`chain_id = ${chainId}`,
  ];
  const scan = [...ofAccount, ...bounds.scan];
  const order = joinSql(PLACE.map((column) => rawSql(`${column} ${query.order}`)));
  const page = sql`SELECT * FROM ${rawSql(table)} ${where(scan)} ORDER BY ${order} LIMIT ${query.limit + 1}`;
  const above = [...ofAccount, sql`block_number > coalesce((SELECT indexed_to FROM covered), -1)`];
  return sql`WITH ${joinSql(ctes)}, page AS MATERIALIZED (SELECT * FROM (${page}) AS found ${where(bounds.far)}), related AS MATERIALIZED (
  SELECT ${blocksOf(sql`SELECT block_number FROM page`, chainId)} AS blocks)
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete,
  greatest(covered.indexed_to, (SELECT block_number FROM ${rawSql(table)} ${where(above)} ORDER BY block_number DESC LIMIT 1)) AS newest,
  related.blocks, packed.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM page) AS packed`;
}

function packedRowsOf({ fields }: AccountTable): PackedRows<AccountRow> {
  const columns = fields.map(({ column, type, width = ADDRESS_BYTES }): [string, PackedColumn<unknown>] => {
    if (type === 'bytes') return [column, hex(column, width)];
    return [column, type === 'boolean' ? boolean(column) : digits(column)];
  });
  return packedRows({
    ...Object.fromEntries(columns),
    block_number: int8('block_number'),
    transaction_index: int4('transaction_index'),
    log_index: int4('log_index'),
    transaction_hash: hex<Hash>('transaction_hash', 32),
  });
}

const ADDRESS_BYTES = 20;

const PLACE = ['block_number', 'transaction_index', 'log_index'] as const;

type RowsPage = IndexedColumns & PackedTexts & { readonly newest: number | null; readonly blocks: string | null };

function placesAfter(order: KeysetOrder, place: RowPlace): readonly Sql[] {
  const { block_number: block, transaction_index: transaction, log_index: log } = place;
  return rowsAfterInPartitions(order, PLACE, [sql`${block}::bigint`, sql`${transaction}`, sql`${log}`]);
}
