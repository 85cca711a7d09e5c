import { where } from '@chainstead/db';

/** Where a page ended: the place of its last row in the chain. */
export interface TransferKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** The columns that order transfers. */
const PLACE = ['block_number', 'transaction_index', 'log_index'];
/** The same of a relation `transfer`. */
export const PLACE_COLUMNS: string = PLACE.map((column) => `transfer.${column}`).join(', ');

/** What is strictly beyond a place. The block stands there alone too: partitions are excluded by it. */
export function beyond(order: 'ASC' | 'DESC', key: TransferKey, bind: (value: unknown) => string): readonly string[] {
  const [block, transaction, log] = [key.blockNumber, key.transactionIndex, key.logIndex].map(bind);
  const operator = order === 'DESC' ? '<' : '>';
  return [
    `(${PLACE.join(', ')}) ${operator} (${block}::bigint, ${transaction}, ${log})`,
    `block_number ${operator}= ${block}::bigint`,
  ];
}

/**
 * The bounds that a scan is given. Of bounds on both sides the planner expects next to no rows, so only the one where the scan begins is; the
 * other is applied to the rows read: they come in order, and what lies beyond it is last.
 */
export function boundsOfScan(near: readonly string[], far: readonly string[]): readonly string[] {
  return near.length === 0 ? far : near;
}

/** The first rows of a relation `transfer` in order. @param limit SQL */
export function firstInOrder(order: 'ASC' | 'DESC', limit: string): string {
  return `ORDER BY ${PLACE.map((column) => `transfer.${column} ${order}`).join(', ')} LIMIT ${limit}`;
}

/**
 * The same of a range whose index ends with the block. The key's index has the whole order: so that the planner never reads all of a wallet
 * in it to find a token, the order is written as none has it.
 */
export function firstInOrderOfBlocks(order: 'ASC' | 'DESC', limit: string): string {
  const [block, transaction, log] = PLACE.map((column) => `transfer.${column}`);
  return `ORDER BY ${block} ${order}, ${transaction} + 0 ${order}, ${log} ${order} LIMIT ${limit}`;
}

/** A range of a table's index: the rows that meet the conditions, as far as `tail` says. */
export function rangeOf(table: string, conditions: readonly string[], tail: string, columns: string): string {
  return `SELECT ${columns} FROM ${table} AS transfer ${where(conditions)} ${tail}`;
}
