import type { Chain } from '@chainstead/chains';
import { joinSql, type KeysetOrder, rawSql, rowsAfter, type Sql, type SqlValue, sql, where } from '@chainstead/db';
import type { PackedTexts } from '@chainstead/db/packed-rows';
import { blocksOf, type IndexedColumns, type PageBounds, type PageRange, pageRange } from '@chainstead/pages';
import { type EventTable, type ParameterColumn, UNDECODED } from '../tables/event-table.ts';
import { EVENT_KEY } from '../tables/row-table.ts';
import type { ColumnFilter, EventFilters } from './event-filters.ts';
import { eventRows } from './event-rows.ts';

export interface EventPlace {
  readonly block_number: number;
  readonly transaction_index: number;
  readonly log_index: number;
  /** Digits; null: rows have another order. */
  readonly value: string | null;
}

export interface EventsQuery extends PageBounds, EventFilters {
  readonly order: KeysetOrder;
  /** Per page; one more is read. */
  readonly limit: number;
  readonly after: EventPlace | null;
}

export interface EventsPageRow extends IndexedColumns, PackedTexts {
  readonly newest: number | null;
  readonly blocks: string | null;
  /** Last row read, if more may follow although the page has at most `limit`. */
  readonly read_to: EventPlace | null;
}

const PLACE = ['block_number', 'transaction_index', 'log_index'] as const;

/** One index range. @param rowsMax at least `limit` + 1 */
export function eventsStatement(
  chain: Chain,
  table: EventTable,
  query: EventsQuery,
  rowsMax: number,
  select: Sql,
): Sql {
  const chainId = sql`${chain.id}::bigint`;
  const name = rawSql(table.name);
  const range = pageRange(chain, chainId, table.name, query, null);
  const { scan, rest, key } = rangeOf(query, range, chainId);
  const ordered = sql`${where(scan)} ORDER BY ${joinSql(key.map((column) => rawSql(`${column} ${query.order}`)))}`;
  const value = rawSql(query.leading?.value === null ? `${query.leading.column.name}::text` : 'NULL');
  const page = sql`SELECT * FROM (SELECT * FROM ${name} ${ordered} LIMIT ${rowsMax}) AS found ${where(rest)}`;
  const last = sql`SELECT * FROM ${name} ${ordered} OFFSET ${rowsMax - 1} LIMIT 1`;
  return sql`WITH ${joinSql(range.ctes)}, page AS MATERIALIZED (${page} LIMIT ${query.limit + 1}), related AS MATERIALIZED (
  SELECT ${blocksOf(sql`SELECT block_number FROM page`, chainId)} AS blocks)
SELECT covered.indexed_from, covered.indexed_to, ${range.complete} AS complete,
  greatest(covered.indexed_to, (SELECT block_number FROM ${name} WHERE chain_id = ${chainId}
    AND block_number > coalesce((SELECT indexed_to FROM covered), -1) ORDER BY block_number DESC LIMIT 1)) AS newest,
  CASE WHEN (SELECT count(*) FROM page) <= ${query.limit} THEN (
    SELECT jsonb_build_object('block_number', block_number, 'transaction_index', transaction_index, 'log_index', log_index, 'value', ${value})
    FROM (${last}) AS last_read) END AS read_to,
  related.blocks, packed.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM ${eventRows(table).fitting('page')}) AS packed`;
}

interface Range {
  /** Row comparisons: for equalities the planner may expect few rows, and sort all. */
  readonly scan: readonly Sql[];
  readonly rest: readonly Sql[];
  readonly key: readonly string[];
}

function rangeOf(query: EventsQuery, span: PageRange, chainId: Sql): Range {
  const { order, after, leading, filters } = query;
  const prefix = leading === null ? [] : [leading.column.name];
  const key = [...prefix, ...EVENT_KEY];
  const [near, far] = (order === 'DESC' ? ['<', '>'] : ['>', '<']) as ['<' | '>', '<' | '>'];
  if (leading?.value === null) {
    const { column } = leading;
    const start =
      after === null
        ? rangeSide(query, column, near)
        : rowsAfterPlace(order, key, [sql`${after.value}::numeric`, chainId], after);
    return {
      key,
      scan: [start, rangeSide(query, column, far)],
      rest: [
        sql`chain_id = ${chainId}`,
        ...filters.filter((one) => one.column !== column).map(conditionOf),
        ...span.lower,
        ...span.upper,
      ],
    };
  }
  const values = leading === null ? [] : [typedValue(leading.column, leading.value)];
  const sideOf = (side: '<' | '>') => {
    const block = side === '>' ? (span.lowest ?? rawSql(0)) : (span.highest ?? BIGINT_MAX);
    return sql`(${rawSql([...prefix, 'chain_id', 'block_number'].join(', '))}) ${rawSql(side)}= (${joinSql([...values, chainId, block])})`;
  };
  const start = after === null ? sideOf(near) : rowsAfterPlace(order, key, [...values, chainId], after);
  return {
    key,
    scan: [start, sideOf(far)],
    rest:
      leading === null
        ? [sql`${rawSql(UNDECODED)} IS NULL`]
        : filters.filter((one) => one.column !== leading.column || one.operator !== '=').map(conditionOf),
  };
}

function rowsAfterPlace(order: KeysetOrder, key: readonly string[], first: readonly Sql[], after: EventPlace): Sql {
  return rowsAfter(order, key, [...first, ...PLACE.map((column) => sql`${after[column]}::bigint`)]);
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
