import type { Chain } from '@chainstead/chains';
import { blocksOfOld, boundsInSqlOld, type IndexedColumns, type PageBounds } from '@chainstead/data-api';
import { type Bind, type KeysetOrder, rowsAfterOld, type Statement, whereOld } from '@chainstead/db';
import type { PackedTexts } from '@chainstead/db/packed-rows';
import { type EventTable, type ParameterColumn, UNDECODED } from '../tables/event-table.ts';
import { EVENT_KEY } from '../tables/row-table.ts';
import type { ColumnFilter, EventFilters } from './event-filters.ts';
import { eventRows } from './event-rows.ts';

/** Place of a row in its list. */
export interface EventPlace {
  readonly block_number: number;
  readonly transaction_index: number;
  readonly log_index: number;
  /** Value of the leading column in digits, if rows are ordered by it; otherwise null. */
  readonly value: string | null;
}

export interface EventsQuery extends PageBounds, EventFilters {
  readonly order: KeysetOrder;
  /** Rows per page. One more is read to detect the next page. */
  readonly limit: number;
  /** Null: the first page. */
  readonly after: EventPlace | null;
}

/** The only row of the statement. */
export interface EventsPageRow extends IndexedColumns, PackedTexts {
  readonly newest: number | null;
  readonly blocks: string | null;
  /** Last row that was read, if rows may follow it although the page has at most `limit` of them. */
  readonly read_to: EventPlace | null;
}

const PLACE = ['block_number', 'transaction_index', 'log_index'] as const;

/**
 * One index range, of which at most `rowsMax` rows are read. All rows of a range have the filtered value, or are ordered by it; other
 * conditions apply to the rows that were read.
 * @param rowsMax at least `limit` + 1
 * @param select of the packed rows
 */
export function eventsStatement(
  chain: Chain,
  table: EventTable,
  query: EventsQuery,
  rowsMax: number,
  select: string,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const chainId = `${bind(chain.id)}::bigint`;
  const bounds = boundsInSqlOld(chain, chainId, table.name, query, bind, null);
  const { scan, rest, key } = rangeOf(query, blockSpan(bounds), chainId, bind);
  const ordered = `${whereOld(scan)} ORDER BY ${key.map((column) => `${column} ${query.order}`).join(', ')}`;
  const value = query.leading?.value === null ? `${query.leading.column.name}::text` : 'NULL';
  const page = `SELECT * FROM (SELECT * FROM ${table.name} ${ordered} LIMIT ${bind(rowsMax)}) AS found ${whereOld(rest)}`;
  const last = `SELECT * FROM ${table.name} ${ordered} OFFSET ${bind(rowsMax - 1)} LIMIT 1`;
  const text = `WITH ${bounds.ctes.join(', ')}, page AS MATERIALIZED (${page} LIMIT ${bind(query.limit + 1)}), related AS MATERIALIZED (
  SELECT ${blocksOfOld('SELECT block_number FROM page', chainId)} AS blocks)
SELECT covered.indexed_from, covered.indexed_to, ${bounds.complete} AS complete,
  greatest(covered.indexed_to, (SELECT block_number FROM ${table.name} WHERE chain_id = ${chainId}
    AND block_number > coalesce((SELECT indexed_to FROM covered), -1) ORDER BY block_number DESC LIMIT 1)) AS newest,
  CASE WHEN (SELECT count(*) FROM page) <= ${bind(query.limit)} THEN (
    SELECT jsonb_build_object('block_number', block_number, 'transaction_index', transaction_index, 'log_index', log_index, 'value', ${value})
    FROM (${last}) AS last_read) END AS read_to,
  related.blocks, packed.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM ${eventRows(table).fittingOld('page')}) AS packed`;
  return { text, values };
}

/** An index range, and conditions on the rows that were read of it. */
interface Range {
  /**
   * A start and an end over the first columns of the index. They are row comparisons, from which the planner expects many rows, so that it
   * reads in the order of the index whatever its statistics are. For equalities it may expect few, and sort all of them.
   */
  readonly scan: readonly string[];
  readonly rest: readonly string[];
  /** Columns of the index. */
  readonly key: readonly string[];
}

/** SQL of the lowest and the highest block. */
interface BlockSpan {
  readonly lowest: string;
  readonly highest: string;
  readonly conditions: readonly string[];
}

function rangeOf(query: EventsQuery, span: BlockSpan, chainId: string, bind: Bind): Range {
  const { order, after, leading, filters } = query;
  const prefix = leading === null ? [] : [leading.column.name];
  const key = [...prefix, ...EVENT_KEY];
  const [near, far] = (order === 'DESC' ? ['<', '>'] : ['>', '<']) as ['<' | '>', '<' | '>'];
  if (leading?.value === null) {
    const { column } = leading;
    const sideOf = (side: '<' | '>') => rangeSide(query, column, side, bind);
    const start =
      after === null ? sideOf(near) : rowsAfterPlace(query, key, [numeric(after.value, bind), chainId], bind);
    return {
      key,
      scan: [...start, ...sideOf(far)],
      rest: [
        // The index has values of all chains in one order.
        `chain_id = ${chainId}`,
        ...filters.filter((one) => one.column !== column).map((one) => conditionOf(one, bind)),
        ...span.conditions,
      ],
    };
  }
  const values = leading === null ? [] : [`${bind(leading.value)}::${leading.column.type}`];
  const sideOf = (side: '<' | '>') =>
    `(${[...prefix, 'chain_id', 'block_number'].join(', ')}) ${side}= (${[...values, chainId, side === '>' ? span.lowest : span.highest].join(', ')})`;
  const start = after === null ? [sideOf(near)] : rowsAfterPlace(query, key, [...values, chainId], bind);
  return {
    key,
    scan: [...start, sideOf(far)],
    // Rows with a filtered value are decoded.
    rest:
      leading === null
        ? [`${UNDECODED} IS NULL`]
        : filters.filter((one) => !isLeading(one, leading)).map((one) => conditionOf(one, bind)),
  };
}

/** Returns the condition of rows after a place. */
function rowsAfterPlace(
  { order, after }: EventsQuery,
  key: readonly string[],
  first: readonly string[],
  bind: Bind,
): readonly string[] {
  if (after === null) return [];
  return [rowsAfterOld(order, key, [...first, ...PLACE.map((column) => `${bind(after[column])}::bigint`)])];
}

function isLeading({ column, operator }: ColumnFilter, leading: NonNullable<EventFilters['leading']>): boolean {
  return column === leading.column && operator === '=';
}

/** Returns the bound of one side of a range, over the column and the chain. */
function rangeSide({ filters }: EventsQuery, column: ParameterColumn, side: '<' | '>', bind: Bind): readonly string[] {
  const bounds = filters.filter((one) => one.column === column && one.operator.startsWith(side));
  const columns = `(${column.name}, chain_id)`;
  // The scan begins or ends at the tightest of several bounds.
  const [tightest] = bounds.toSorted((one, other) => {
    const [low, high] = side === '>' ? [other, one] : [one, other];
    const difference = BigInt(String(low.value)) - BigInt(String(high.value));
    return difference === 0n ? one.operator.length - other.operator.length : difference < 0n ? -1 : 1;
  });
  if (tightest === undefined)
    // Undecoded rows have no value, and are after infinity.
    return [
      side === '<' ? `${columns} <= ('Infinity'::numeric, ${BIGINT_MAX})` : `${columns} >= ('-Infinity'::numeric, -1)`,
    ];
  const { operator, value } = tightest;
  const chain = operator === '>' || operator === '<=' ? BIGINT_MAX : '-1';
  return [`${columns} ${operator} (${numeric(value, bind)}, ${chain})`];
}

const BIGINT_MAX = '9223372036854775807';

function numeric(value: unknown, bind: Bind): string {
  return `${bind(value)}::numeric`;
}

/** Takes the bounds apart: an index range needs their values. */
function blockSpan({
  lower,
  upper,
}: {
  readonly lower: readonly string[];
  readonly upper: readonly string[];
}): BlockSpan {
  const valuesOf = (conditions: readonly string[]) =>
    conditions.map((condition) => condition.replace(/^block_number [<>]= /, ''));
  return {
    lowest: `greatest(${[...valuesOf(lower), '0'].join(', ')})`,
    highest: `least(${[...valuesOf(upper), BIGINT_MAX].join(', ')})`,
    conditions: [...lower, ...upper],
  };
}

function conditionOf({ column, operator, value }: ColumnFilter, bind: Bind): string {
  return `${column.name} ${operator} ${bind(value)}::${column.type}`;
}
