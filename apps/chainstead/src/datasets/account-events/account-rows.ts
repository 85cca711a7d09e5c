import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, rawSql, sql, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import {
  boolean,
  digits,
  hex,
  int4,
  int8,
  type PackedColumn,
  type PackedRows,
  packedRows,
} from '@chainstead/db/packed-rows';
import {
  type ChainQuery,
  chainPage,
  chainRange,
  LOG_COLUMNS_ORDER,
  type LogColumnsPosition,
  newestOfRun,
} from '@chainstead/pages';
import type { AccountEvents } from './account-events.ts';

interface AccountRow extends LogColumnsPosition {
  readonly transaction_hash: Hash;
  /** Columns of fields. */
  readonly [column: string]: unknown;
}

export interface AccountRowsQuery extends ChainQuery<LogColumnsPosition> {
  readonly account: Address;
}

type AccountTable = Pick<AccountEvents, 'name' | 'table' | 'fields'>;

/**
 * One range of the primary key per partition. The whole address is expected true: the planner
 * never sorts all rows of an account.
 */
export function accountRowsPage(chain: Chain, dataset: AccountTable, query: AccountRowsQuery) {
  const table = dataset.table.name;
  const range = chainRange(chain, dataset.name, query, LOG_COLUMNS_ORDER);
  const ofAccount = [
    sql`account_key = ${addressKey(query.account)}`,
    expectedTrue(sql`account = ${addressBytes(query.account)}`),
    sql`chain_id = ${chain.id}`,
  ];
  const conditions = where([...ofAccount, ...range.scan]);
  return chainPage({
    ...{ chain, query, range, order: LOG_COLUMNS_ORDER, rows: packedRowsOf(dataset), related: {} },
    scan: sql`SELECT * FROM ${rawSql(table)} ${conditions} ${LOG_COLUMNS_ORDER.by(query.order)} LIMIT ${query.limit + 1}`,
    newest: newestOfRun(query.order, [{ from: table, of: ofAccount }]),
  });
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
