import { type KeysetOrder, rawSql, rowsAfterInPartitions, type Sql, sql, where } from '@chainstead/db';

export interface TransferKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

const PLACE = ['block_number', 'transaction_index', 'log_index'] as const;
export const PLACE_COLUMNS = rawSql(PLACE.map((column) => `transfer.${column}`).join(', '));

export function transfersAfter(order: KeysetOrder, key: TransferKey): readonly Sql[] {
  const values = [sql`${key.blockNumber}::bigint`, sql`${key.transactionIndex}`, sql`${key.logIndex}`] as const;
  return rowsAfterInPartitions(order, PLACE, values);
}

export function firstInOrder(order: KeysetOrder, limit: number): Sql {
  return sql`ORDER BY ${rawSql(PLACE.map((column) => `transfer.${column} ${order}`).join(', '))} LIMIT ${limit}`;
}

/**
 * For an index that ends with the block. No index has this order: the planner would use the primary
 * key, and read a whole wallet. @param limit a value, or constant SQL
 */
export function firstInOrderOfBlocks(order: KeysetOrder, limit: number | Sql): Sql {
  const [block, transaction, log] = PLACE.map((column) => `transfer.${column}`);
  return sql`ORDER BY ${rawSql(`${block} ${order}, ${transaction} + 0 ${order}, ${log} ${order}`)} LIMIT ${limit}`;
}

export function rangeOf(table: string, conditions: readonly Sql[], tail: Sql, columns: Sql): Sql {
  return sql`SELECT ${columns} FROM ${rawSql(table)} AS transfer ${where(conditions)} ${tail}`;
}
