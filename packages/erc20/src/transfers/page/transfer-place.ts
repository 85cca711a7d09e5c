import { type KeysetOrder, rawSql, rowsAfterInPartitions, type Sql, sql, where } from '@chainstead/db';

/** The end of a page: position of its last row in the chain. */
export interface TransferKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** The columns that order transfers. */
const PLACE = ['block_number', 'transaction_index', 'log_index'] as const;
/** The same columns of a relation `transfer`. */
export const PLACE_COLUMNS = rawSql(PLACE.map((column) => `transfer.${column}`).join(', '));

/** Returns the conditions for rows after a position. */
export function transfersAfter(order: KeysetOrder, key: TransferKey): readonly Sql[] {
  const values = [sql`${key.blockNumber}::bigint`, sql`${key.transactionIndex}`, sql`${key.logIndex}`] as const;
  return rowsAfterInPartitions(order, PLACE, values);
}

/** Returns the first rows of a relation `transfer` in order. */
export function firstInOrder(order: KeysetOrder, limit: number): Sql {
  return sql`ORDER BY ${rawSql(PLACE.map((column) => `transfer.${column} ${order}`).join(', '))} LIMIT ${limit}`;
}

/**
 * Like `firstInOrder`, for a range whose index ends with the block. The order is written in a form that no index
 * provides. Otherwise the planner could use the primary key, which has the whole order, and read a whole wallet to find
 * a token.
 * @param limit a value, or SQL of a constant
 */
export function firstInOrderOfBlocks(order: KeysetOrder, limit: number | Sql): Sql {
  const [block, transaction, log] = PLACE.map((column) => `transfer.${column}`);
  return sql`ORDER BY ${rawSql(`${block} ${order}, ${transaction} + 0 ${order}, ${log} ${order}`)} LIMIT ${limit}`;
}

/** A range of a table's index: rows that meet the conditions, limited by `tail`. */
export function rangeOf(table: string, conditions: readonly Sql[], tail: Sql, columns: Sql): Sql {
  return sql`SELECT ${columns} FROM ${rawSql(table)} AS transfer ${where(conditions)} ${tail}`;
}
