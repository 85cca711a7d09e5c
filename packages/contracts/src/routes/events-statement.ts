import type { Chain } from '@chainstead/chains';
import { blocksOf, boundsInSql, type IndexedColumns, type PageBounds, scanBounds } from '@chainstead/data-api';
import { type Bind, type KeysetOrder, rowsAfter, type Statement, where } from '@chainstead/db';
import type { PackedTexts } from '@chainstead/db/packed-rows';
import { type EventTable, type ParameterColumn, UNDECODED } from '../tables/event-table.ts';
import type { ColumnFilter, EventFilters } from './event-filters.ts';

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
// biome-ignore lint/complexity/useMaxParams: the last two depend on the round, the first three on the request.
export function eventsStatement(
  chain: Chain,
  table: EventTable,
  query: EventsQuery,
  rowsMax: number,
  select: string,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const chainId = bind(chain.id);
  const bounds = boundsInSql(chain, chainId, table.name, query, bind, null);
  const { scan, far, rest, order } = scanOf(query, bounds, chainId, bind);
  const ordered = `${where(scan)} ORDER BY ${order.map((column) => `${column} ${query.order}`).join(', ')}`;
  const value = isRange(query) ? `${query.leading?.column.name}::text` : 'NULL';
  const limit = bind(query.limit);
  const page = `SELECT * FROM (SELECT * FROM ${table.name} ${ordered} LIMIT ${bind(rowsMax)}) AS found ${where([...far, ...rest])}`;
  const last = `SELECT * FROM ${table.name} ${ordered} OFFSET ${bind(rowsMax - 1)} LIMIT 1`;
  const text = `WITH ${bounds.ctes.join(', ')}, page AS MATERIALIZED (${page} LIMIT ${bind(query.limit + 1)}), related AS MATERIALIZED (
  SELECT ${blocksOf('SELECT block_number FROM page', chainId)} AS blocks)
SELECT covered.indexed_from, covered.indexed_to, ${bounds.complete} AS complete,
  greatest(covered.indexed_to, (SELECT block_number FROM ${table.name} WHERE chain_id = ${chainId}
    AND block_number > coalesce((SELECT indexed_to FROM covered), -1) ORDER BY block_number DESC LIMIT 1)) AS newest,
  CASE WHEN (SELECT count(*) FROM page) <= ${limit} THEN (
    SELECT jsonb_build_object('block_number', block_number, 'transaction_index', transaction_index, 'log_index', log_index, 'value', ${value})
    FROM (${last}) AS last_read ${where(far)}) END AS read_to,
  related.blocks, packed.*
FROM covered CROSS JOIN related CROSS JOIN (SELECT ${select} FROM page) AS packed`;
  return { text, values };
}

/** Conditions and order of a page. */
interface Scan {
  /** Conditions of the index scan, which begins at one bound. */
  readonly scan: readonly string[];
  /** Where the range ends. */
  readonly far: readonly string[];
  /** Conditions on rows that were read. */
  readonly rest: readonly string[];
  readonly order: readonly string[];
}

function scanOf(
  { order, after, leading, filters }: EventsQuery,
  { lower, upper }: { readonly lower: readonly string[]; readonly upper: readonly string[] },
  chainId: string,
  bind: Bind,
): Scan {
  const ofChain = `chain_id = ${chainId}`;
  const others = filters.filter((one) => one !== leading && one.column !== rangedBy(leading));
  const rest = others.map((one) => conditionOf(one, bind));
  if (leading?.value === null) {
    const ofRange = filters.filter(({ column }) => column === leading.column);
    const sideOf = (side: '>' | '<') =>
      ofRange.filter(({ operator }) => operator.startsWith(side)).map((one) => conditionOf(one, bind));
    const columns = [leading.column.name, ...PLACE];
    const keys = [leading.column.name, 'chain_id', ...PLACE];
    const values = (place: EventPlace) => [`${bind(place.value)}::numeric`, chainId, ...placeValues(place, bind)];
    const start = after === null ? null : [rowsAfter(order, keys, values(after))];
    const sides = { lower: sideOf('>'), upper: sideOf('<') };
    const { scan } = scanBounds(order, sides, start);
    // With a start, the near side is always true. It stays because a statement must use all of its parameters.
    const far = [...sides.lower, ...sides.upper];
    return { scan: [ofChain, ...scan], far, rest: [...rest, ...lower, ...upper], order: columns };
  }
  const start = after === null ? null : [rowsAfter(order, PLACE, placeValues(after, bind))];
  const { scan, far } = scanBounds(order, { lower, upper }, start);
  if (leading === null) return { scan: [ofChain, ...scan], far, rest: [`${UNDECODED} IS NULL`], order: PLACE };
  const { column, value } = leading;
  return {
    // A list of one value: with `=`, the primary key has the same order, and the planner may read it and skip other values.
    scan: [`${column.name} = ANY (${bind([value])}::${column.type}[])`, ofChain, ...scan],
    far,
    rest,
    order: [column.name, ...PLACE],
  };
}

function placeValues(place: EventPlace, bind: Bind): readonly string[] {
  return PLACE.map((column) => `${bind(place[column])}::bigint`);
}

function conditionOf({ column, operator, value }: ColumnFilter, bind: Bind): string {
  return `${column.name} ${operator} ${bind(value)}::${column.type}`;
}

function rangedBy(leading: EventFilters['leading']): ParameterColumn | null {
  return leading?.value === null ? leading.column : null;
}

function isRange({ leading }: EventsQuery): boolean {
  return rangedBy(leading) !== null;
}
