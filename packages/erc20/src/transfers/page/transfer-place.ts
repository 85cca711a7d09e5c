import { type Bind, type KeysetOrder, rowsAfterInPartitionsOld, whereOld } from '@chainstead/db';

/** The end of a page: position of its last row in the chain. */
export interface TransferKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** The columns that order transfers. */
const PLACE = ['block_number', 'transaction_index', 'log_index'];
/** The same columns of a relation `transfer`. */
export const PLACE_COLUMNS: string = PLACE.map((column) => `transfer.${column}`).join(', ');

/** Returns the conditions for rows after a position. */
export function transfersAfter(order: KeysetOrder, key: TransferKey, bind: Bind): readonly string[] {
  const values = [`${bind(key.blockNumber)}::bigint`, bind(key.transactionIndex), bind(key.logIndex)];
  return rowsAfterInPartitionsOld(order, PLACE, values);
}

/** Returns the first rows of a relation `transfer` in order. @param limit SQL */
export function firstInOrder(order: KeysetOrder, limit: string): string {
  return `ORDER BY ${PLACE.map((column) => `transfer.${column} ${order}`).join(', ')} LIMIT ${limit}`;
}

/**
 * Like `firstInOrder`, for a range whose index ends with the block. The order is written in a form that no index
 * provides. Otherwise the planner could use the primary key, which has the whole order, and read a whole wallet to find
 * a token.
 */
export function firstInOrderOfBlocks(order: KeysetOrder, limit: string): string {
  const [block, transaction, log] = PLACE.map((column) => `transfer.${column}`);
  return `ORDER BY ${block} ${order}, ${transaction} + 0 ${order}, ${log} ${order} LIMIT ${limit}`;
}

/** A range of a table's index: rows that meet the conditions, limited by `tail`. */
export function rangeOf(table: string, conditions: readonly string[], tail: string, columns: string): string {
  return `SELECT ${columns} FROM ${table} AS transfer ${whereOld(conditions)} ${tail}`;
}
