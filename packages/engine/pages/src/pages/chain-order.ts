import { type KeysetOrder, rawSql, rowsAfterInPartitions, type Sql, sql } from '@chainstead/db';
import { z } from '@hono/zod-openapi';

/** By field of a cursor's position. The first is the block's number. */
export type PositionColumns = Readonly<Record<string, string>>;

export type Position<Columns extends PositionColumns> = { readonly [Field in keyof Columns]: number };

/** The order of a list's rows in the chain. */
export interface ChainOrder<Columns extends PositionColumns> {
  /** For the schema of a cursor's position. */
  readonly fields: { readonly [Field in keyof Columns]: z.ZodInt };
  /** The schema of a cursor's position. */
  readonly position: z.ZodType<Position<Columns>>;
  /** A row's position. */
  readonly inJson: Sql;
  positionOf(row: Readonly<Record<Columns[keyof Columns], number>>): Position<Columns>;
  /** The second condition prunes partitions. */
  after(order: KeysetOrder, position: Position<Columns>): readonly [after: Sql, notBefore: Sql];
  /** @param prefix of the columns, such as `transfer.` */
  by(order: KeysetOrder, prefix?: string): Sql;
  /**
   * For an index that ends with the block. No index has this order: the planner would use the
   * primary key, and read everything of a subject.
   */
  byBlock(order: KeysetOrder, prefix?: string): Sql;
}

type PositionIn<Order> = Order extends ChainOrder<infer Columns> ? Position<Columns> : never;

function chainOrder<const Columns extends PositionColumns>(columns: Columns): ChainOrder<Columns> {
  const names = Object.values(columns);
  const [first = 'block_number', ...rest] = names;
  const mapped = <Value>(read: (column: Columns[keyof Columns]) => Value) => {
    const entries = Object.entries(columns).map(([field, column]) => [
      field,
      read(column as Columns[keyof Columns]),
    ]);
    // The compiler can't compute the keys.
    return Object.fromEntries(entries) as { readonly [Field in keyof Columns]: Value };
  };
  const sorted = (order: KeysetOrder, prefix: string, ofTransaction: string): Sql => {
    const keys = names.map((name, index) => `${prefix}${name}${index === 1 ? ofTransaction : ''} ${order}`);
    return rawSql(`ORDER BY ${keys.join(', ')}`);
  };
  const fields = mapped(() => z.int());
  return {
    fields,
    position: z.object(fields) as unknown as z.ZodType<Position<Columns>>,
    inJson: rawSql(`json_build_object(${Object.entries(columns).map(([field, name]) => `'${field}', ${name}`)})`),
    positionOf: (row) => mapped((column) => row[column]),
    after(order, position) {
      const [block = 0, ...others] = Object.keys(columns).map((field) => position[field] ?? 0);
      const values = [sql`${block}::bigint`, ...others.map((value) => sql`${value}`)] as const;
      return rowsAfterInPartitions(order, [first, ...rest], values);
    },
    by: (order, prefix = '') => sorted(order, prefix, ''),
    byBlock: (order, prefix = '') => sorted(order, prefix, ' + 0'),
  };
}

export const TRANSACTION_ORDER = chainOrder({ block: 'block_number', transaction: 'transaction_index' });
export type TransactionPosition = PositionIn<typeof TRANSACTION_ORDER>;

export const LOG_ORDER = chainOrder({
  block: 'block_number',
  transaction: 'transaction_index',
  log: 'log_index',
});
export type LogPosition = PositionIn<typeof LOG_ORDER>;

/** As {@link LOG_ORDER}: some lists' cursors name the columns. */
export const LOG_COLUMNS_ORDER = chainOrder({
  block_number: 'block_number',
  transaction_index: 'transaction_index',
  log_index: 'log_index',
});
export type LogColumnsPosition = PositionIn<typeof LOG_COLUMNS_ORDER>;

/** `item`: of a log with several rows. */
export const ITEM_ORDER = chainOrder({
  block: 'block_number',
  transaction: 'transaction_index',
  log: 'log_index',
  item: 'item',
});
export type ItemPosition = PositionIn<typeof ITEM_ORDER>;
