import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import {
  joinSql,
  type KeysetOrder,
  type ReadDatabase,
  rawSql,
  rowsAfter,
  type Sql,
  type SqlValue,
  sql,
  where,
} from '@chainstead/db';
import {
  boolean,
  digits,
  hex,
  int4,
  int8,
  longHex,
  type PackedColumn,
  type PackedRows,
  packedRows,
  type RowOf,
  text,
} from '@chainstead/db/packed-rows';
import {
  type ChainQuery,
  chainPage,
  LOG_COLUMNS_ORDER,
  type LogColumnsPosition,
  type PageRange,
  pageRange,
} from '@chainstead/pages';
import { type EventTable, type ParameterColumn, UNDECODED } from '../tables/event-table.ts';
import { EVENT_KEY } from '../tables/row-table.ts';
import type { ColumnFilter, EventFilters } from './event-filters.ts';

interface EventPosition extends LogColumnsPosition {
  /** Digits; null: rows have another order. */
  readonly value: string | null;
}

export interface EventsQuery extends ChainQuery<EventPosition>, EventFilters {}

export type EventsPage = Awaited<ReturnType<typeof readEvents>>;

export const ROWS_READ_MAX = 10_000;

/** A page may be short after {@link ROWS_READ_MAX} rows. @throws {InconsistentPageError} */
export async function readEvents(database: ReadDatabase, chain: Chain, table: EventTable, query: EventsQuery) {
  const rowsMax = query.limit + 1;
  const first = await eventsPage(chain, table, query, rowsMax).read(database);
  const { rows, blockOf, indexed, next } = first.isStopped
    ? await eventsPage(chain, table, query, Math.max(ROWS_READ_MAX, rowsMax)).read(database)
    : first;
  const paramsOf = (row: EventRow) =>
    Object.fromEntries(table.parameters.map(({ name }, index) => [name, row[`p${index}`]]));
  return { rows: rows.map((row) => ({ ...row, block: blockOf(row), params: paramsOf(row) })), indexed, next };
}

/** One index range. @param rowsMax at least `limit` + 1 */
export function eventsPage(chain: Chain, table: EventTable, query: EventsQuery, rowsMax: number) {
  const { limit, leading } = query;
  const chainId = sql`${chain.id}::bigint`;
  const name = rawSql(table.name);
  const range = pageRange(chain, chainId, table.name, query, null);
  const { scan, rest, key } = rangeOf(query, range, chainId);
  const ordered = sql`${where(scan)} ORDER BY ${joinSql(key.map((column) => rawSql(`${column} ${query.order}`)))}`;
  const last = sql`SELECT * FROM ${name} ${ordered} OFFSET ${rowsMax - 1} LIMIT 1`;
  const value = leading?.value === null ? leading.column : null;
  const valueInJson = rawSql(value === null ? 'NULL' : `${value.name}::text`);
  const rows = eventRows(table);
  return chainPage({
    ...{ chain, query, rows, from: rows.fitting('page'), related: {} },
    range: { ...range, far: [] },
    order: {
      positionOf: (row: EventRow): EventPosition => {
        const digits = value && String(row[`p${table.parameters.indexOf(value)}`]);
        return { ...LOG_COLUMNS_ORDER.positionOf(row), value: digits };
      },
    },
    scan: sql`SELECT * FROM (SELECT * FROM ${name} ${ordered} LIMIT ${rowsMax}) AS found ${where(rest)} LIMIT ${limit + 1}`,
    newest: [{ from: table.name, of: [sql`chain_id = ${chainId}`] }],
    stop: sql`CASE WHEN (SELECT count(*) FROM page) <= ${limit} THEN (
    SELECT ${LOG_COLUMNS_ORDER.inJson}::jsonb || jsonb_build_object('value', ${valueInJson}) FROM (${last}) AS last_read) END`,
  });
}

interface Range {
  /** Row comparisons for an index range, and conditions on single columns: only these prune partitions. */
  readonly scan: readonly Sql[];
  readonly rest: readonly Sql[];
  readonly key: readonly string[];
}

function rangeOf(query: EventsQuery, span: PageRange, chainId: Sql): Range {
  const { order, after, leading, filters } = query;
  const prefix = leading === null ? [] : [leading.column.name];
  const key = [...prefix, ...EVENT_KEY];
  // For an equality alone the planner may expect few rows, and sort all.
  const isOfChain = sql`chain_id >= ANY (ARRAY[${chainId}]) AND chain_id <= ANY (ARRAY[${chainId}])`;
  const bounds = [...span.lower, ...span.upper];
  const [near, far] = (order === 'DESC' ? ['<', '>'] : ['>', '<']) as ['<' | '>', '<' | '>'];
  if (leading?.value === null) {
    const { column } = leading;
    const start =
      after === null
        ? rangeSide(query, column, near)
        : rowsAfterEvent(order, key, [sql`${after.value}::numeric`, chainId], after);
    return {
      key,
      scan: [isOfChain, start, rangeSide(query, column, far)],
      // Rows of other blocks count as read.
      rest: [...filters.filter((one) => one.column !== column).map(conditionOf), ...bounds],
    };
  }
  const values = leading === null ? [] : [typedValue(leading.column, leading.value)];
  const sideOf = (side: '<' | '>') => {
    const block = side === '>' ? (span.lowest ?? rawSql(0)) : (span.highest ?? BIGINT_MAX);
    return sql`(${rawSql([...prefix, 'chain_id', 'block_number'].join(', '))}) ${rawSql(side)}= (${joinSql([...values, chainId, block])})`;
  };
  const start = after === null ? sideOf(near) : rowsAfterEvent(order, key, [...values, chainId], after);
  return {
    key,
    // With a value, the planner may prefer the primary key for plain bounds, and read rows of others.
    scan: [
      ...(leading === null && bounds.length > 0 ? [sql`chain_id = ${chainId}`, ...bounds] : [isOfChain]),
      ...[start, sideOf(far)],
    ],
    rest:
      leading === null
        ? [sql`${rawSql(UNDECODED)} IS NULL`]
        : filters.filter((one) => one.column !== leading.column || one.operator !== '=').map(conditionOf),
  };
}

function rowsAfterEvent(
  order: KeysetOrder,
  key: readonly string[],
  first: readonly Sql[],
  after: EventPosition,
): Sql {
  const { block_number, transaction_index, log_index } = after;
  const place = [block_number, transaction_index, log_index].map((number) => sql`${number}::bigint`);
  return rowsAfter(order, key, [...first, ...place]);
}

function rangeSide({ filters }: EventsQuery, column: ParameterColumn, side: '<' | '>'): Sql {
  const bounds = filters.filter((one) => one.column === column && one.operator.startsWith(side));
  const columns = rawSql(`(${column.name}, chain_id)`);
  const [tightest] = bounds.toSorted((one, other) => {
    const [low, high] = side === '>' ? [other, one] : [one, other];
    const difference = BigInt(String(low.value)) - BigInt(String(high.value));
    return difference === 0n ? one.operator.length - other.operator.length : difference < 0n ? -1 : 1;
  });
  if (tightest === undefined)
    // Undecoded rows have no value, and are after infinity.
    return side === '<'
      ? sql`${columns} <= ('Infinity'::numeric, ${BIGINT_MAX})`
      : sql`${columns} >= ('-Infinity'::numeric, -1)`;
  const { operator, value } = tightest;
  const chain = operator === '>' || operator === '<=' ? BIGINT_MAX : rawSql(-1);
  return sql`${columns} ${rawSql(operator)} (${value}::numeric, ${chain})`;
}

const BIGINT_MAX = sql`9223372036854775807`;

function conditionOf({ column, operator, value }: ColumnFilter): Sql {
  return sql`${rawSql(column.name)} ${rawSql(operator)} ${typedValue(column, value)}`;
}

function typedValue({ type }: ParameterColumn, value: SqlValue): Sql {
  return sql`${value}::${rawSql(type)}`;
}

const PLACE_ROWS = {
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
  contract: hex<Address>('contract', 20),
};

type EventRow = RowOf<PackedRows<PlaceRow>> & Readonly<Record<`p${number}`, unknown>>;

type PlaceRow = { [Name in keyof typeof PLACE_ROWS]: ReturnType<(typeof PLACE_ROWS)[Name]['read']> };

function eventRows({ parameters }: EventTable): PackedRows<EventRow> {
  const columns = parameters.map((column, index): [string, PackedColumn<unknown>] => [
    `p${index}`,
    parameterColumn(column),
  ]);
  return packedRows({ ...PLACE_ROWS, ...Object.fromEntries(columns) });
}

function parameterColumn({ name, type, abiType, isHash, isNullable }: ParameterColumn): PackedColumn<unknown> {
  switch (type) {
    case 'numeric':
      return digits(name);
    case 'boolean':
      return isNullable === true ? booleanOrNull(name) : boolean(name);
    case 'text':
      return text(name);
    case 'jsonb':
      return { ...text(`${name}::text`), read: (json: string) => JSON.parse(json) };
    case 'bytea':
      return bytesColumn(name, isHash ? 'bytes32' : abiType.type);
  }
}

function booleanOrNull(name: string): PackedColumn<boolean | null> {
  return {
    kind: 'bytes',
    packed: sql`coalesce(boolsend(${rawSql(name)}), '\\x02'::bytea)`,
    width: 1,
    read: (digits) => (digits === '02' ? null : digits === '01'),
  };
}

const ADDRESS_BYTES = 20;

function bytesColumn(name: string, abiType: string): PackedColumn<string> {
  const width = abiType === 'address' ? ADDRESS_BYTES : Number(abiType.slice('bytes'.length));
  return width > 0 ? hex(name, width) : { ...longHex(name), read: (digits: string) => `0x${digits}` };
}
