import {
  type PgCodec,
  type PgResource,
  type PgSelectQueryBuilder,
  sqlValueWithCodec,
  TYPES,
  type WithPgClient,
} from '@dataplan/pg';
import { type SQL, sql } from 'pg-sql2';
import { GraphqlRefusalError } from '../refusal.ts';
import { cursorValues, foreignCursor, inCursor } from './cursor.ts';
import type { EventArguments } from './event-arguments.ts';
import { blockBounds, type Condition, columnOf, isRange, ROW, readConditions } from './event-conditions.ts';
import {
  and,
  columnsOf,
  countOf,
  createScans,
  forEach,
  isSmall,
  numberedRows,
  orderOf,
  POSITION,
  type Scan,
  scanned,
  unknownToPlanner,
} from './event-scans.ts';
import { chainIdOf } from './row-range.ts';
import { BLOCK, codecOf, LOG_PLACE, type RowSource, tableOf } from './row-sources.ts';

interface EventPage {
  readonly column: string | null;
  applyOrder(query: PgSelectQueryBuilder): void;
  /** At least the rows of the page. The index has the order of the list. */
  inOrder(scan: Scan): SQL;
  byIndex(scan: Scan, ofNull: Scan | null): SQL;
  sorted(scan: Scan): SQL;
}

interface Order {
  readonly direction: 'ASC' | 'DESC';
  readonly column: string | null;
  readonly place: readonly string[];
  readonly tag: string;
}

interface After {
  readonly value: SQL | null;
  readonly place: readonly SQL[];
}

function createPage(resource: PgResource, args: EventArguments, chain: SQL, rowsMax: number): EventPage {
  const direction = args.order ?? 'DESC';
  const column = args.orderBy == null || args.orderBy === BLOCK ? null : args.orderBy;
  const place = LOG_PLACE.filter((name) => name !== column);
  const order: Order = { direction, column, place, tag: `${column ?? BLOCK} ${direction}` };
  const size = args.first + 1;
  const after = args.after == null ? null : readCursor(resource, order, args.after);
  const rowsAfter = (columns: readonly string[], values: readonly SQL[]): SQL =>
    sql`(${sql.join(columns.map(columnOf), ', ')}) ${direction === 'DESC' ? sql`<` : sql`>`} (${sql.join(values, ', ')})`;

  function pageOf(scan: Scan, start: readonly SQL[] | null): SQL {
    const inIndex = orderOf(scan.key, direction);
    const following = start === null ? [] : [rowsAfter(scan.key.slice(-start.length), start)];
    const rows = scanned(resource, scan, following, inIndex);
    const limit = sql`LIMIT ${sql.literal(size)}`;
    return forEach(scan, size, rowsMax, (max) => {
      if (scan.rest.length === 0) return sql`${rows} ${limit}`;
      const numbered = numberedRows(rows, inIndex, max);
      // Divides by zero at the row after the last allowed one, which only an unfilled page reads.
      const untilRead = sql`CASE WHEN 1 / (${sql.literal(max + 1)} - ${ROW}.${POSITION}) IS NOT NULL THEN ${and(scan.rest)} END`;
      return sql`SELECT ${columnsOf(resource)} FROM (${numbered}) AS ${ROW} WHERE ${untilRead} ${inIndex} ${limit}`;
    });
  }

  /** Nulls come last in both directions. */
  function inSorted({ value, place }: After): SQL {
    if (column === null) return rowsAfter(order.place, place);
    const isNull = sql`${columnOf(column)} IS NULL`;
    if (value === null) return sql`${isNull} AND ${rowsAfter(order.place, place)}`;
    return sql`(${isNull} OR ${rowsAfter([column, ...order.place], [value, ...place])})`;
  }

  return {
    column,
    applyOrder: (query) => applyOrder(query, resource, order),
    inOrder: (scan) => pageOf(scan, after === null ? null : [...scan.prefix, ...after.place]),
    byIndex(scan, ofNull) {
      const key = unknownToPlanner(chain);
      if (after === null)
        return union(resource, [pageOf(scan, null), ...(ofNull === null ? [] : [pageOf(ofNull, null)])]);
      const { value, place } = after;
      const withValue = value === null ? [] : [pageOf(scan, [value, key, ...place])];
      const without = ofNull === null ? [] : [pageOf(ofNull, value === null ? [key, ...place] : null)];
      return union(resource, [...withValue, ...without]);
    },
    sorted(scan) {
      const rest = [...scan.rest, ...(after === null ? [] : [inSorted(after)])];
      const all = forEach(scan, size, rowsMax, () => scanned(resource, scan, [], orderOf(scan.key, 'DESC')));
      return sql`SELECT ${columnsOf(resource)} FROM (${all}) AS ${ROW} WHERE ${and([sql`true`, ...rest])}`;
    },
  };
}

function readCursor(resource: PgResource, { column, place, tag }: Order, cursor: string): After {
  const [given, ...values] = cursorValues(cursor, 1 + (column === null ? 0 : 1) + place.length);
  const [value = null, ...placed] = column === null ? [null, ...values] : values;
  if (given !== tag || placed.includes(null)) throw foreignCursor();
  const encoded = (name: string, text: string | null | undefined): SQL =>
    unknownToPlanner(sql`${sql.value(text ?? null)}::${codecOf(resource, name).sqlType}`);
  return {
    value: column === null || value === null ? null : encoded(column, value),
    place: place.map((name, index) => encoded(name, placed[index])),
  };
}

function applyOrder(
  query: PgSelectQueryBuilder,
  resource: PgResource,
  { column, direction, place, tag }: Order,
): void {
  const add = (fragment: SQL, codec: PgCodec, nullable: boolean): void =>
    query.orderBy({ fragment, codec: inCursor(codec), direction, nullable, ...(nullable && { nulls: 'LAST' }) });
  const addColumn = (name: string, nullable: boolean): void =>
    add(sql`${query.alias}.${sql.identifier(name)}`, codecOf(resource, name), nullable);
  add(sql`${sql.value(tag)}::text`, TYPES.text, false);
  if (column !== null) addColumn(column, true);
  for (const name of place) addColumn(name, false);
  query.setOrderIsUnique();
}

function union(resource: PgResource, parts: readonly SQL[]): SQL {
  if (parts.length === 0)
    return sql`SELECT ${columnsOf(resource)} FROM ${tableOf(resource)} AS ${ROW} WHERE false`;
  return sql.join(
    parts.map((part) => sql`(${part})`),
    ' UNION ALL ',
  );
}

interface EventList {
  /** At least the rows of the page, and no earlier ones. */
  readonly from: SQL;
  /** One row: `count`, and `is_cut` if further rows may match. */
  readonly count: SQL;
  applyOrder(query: PgSelectQueryBuilder): void;
}

export const ROWS_READ_MAX = 100_000;

/** Reads one range of an index, or at most `rowsMax` rows. @throws GraphqlRefusalError */
export async function eventList(
  resource: PgResource,
  source: RowSource,
  args: EventArguments,
  withClient: WithPgClient,
  rowsMax = ROWS_READ_MAX,
): Promise<EventList> {
  const chain = sqlValueWithCodec(chainIdOf(args), TYPES.bigint);
  const conditions = readConditions(resource, args);
  const bounds = blockBounds(resource, chain, args, conditions);
  const scans = createScans(chain, conditions, bounds);
  const indexed = new Set(source.finders.map(({ column }) => column));
  const [equal] = conditions
    .filter(({ column, operator }) => (operator === '=' || operator === 'IN') && indexed.has(column))
    .toSorted((one, other) => rankOf(resource, one) - rankOf(resource, other));
  const ranged = new Set(
    conditions
      .filter(({ column, operator }) => isRange(operator) && indexed.has(column))
      .map(({ column }) => column),
  );
  const wholeRange = scans.ofBlocks();
  const narrow = [
    ...(equal === undefined ? [] : [scans.ofValues(equal)]),
    ...[...ranged].map((column) => scans.ofColumn(column)),
    ...(bounds.isGiven ? [wholeRange] : []),
  ];
  const page = createPage(resource, args, chain, rowsMax);
  const by = page.column;
  const isEmpty = conditions.some(({ values }) => values.length === 0);
  const nothing: Scan = { ...wholeRange, conditions: [sql`false`], rest: [] };
  const count = countOf(resource, isEmpty ? nothing : (narrow[0] ?? wholeRange), rowsMax);

  async function firstSmall(candidates: readonly Scan[]): Promise<Scan | null> {
    for (const scan of candidates) if (await isSmall(resource, scan, withClient, rowsMax)) return scan;
    return null;
  }

  async function rows(): Promise<SQL> {
    if (isEmpty) return page.sorted(nothing);
    if (by === null) {
      if (equal !== undefined) return page.inOrder(scans.ofValues(equal));
      const small = await firstSmall([...ranged].map((column) => scans.ofColumn(column)));
      return small === null ? page.inOrder(wholeRange) : page.sorted(small);
    }
    if (indexed.has(by) && narrow.every(({ column }) => column === by) && equal === undefined)
      return page.byIndex(scans.ofColumn(by), scans.ofNull(by));
    const small = await firstSmall([...narrow, ...(indexed.has(by) || bounds.isGiven ? [] : [wholeRange])]);
    if (small !== null) return page.sorted(small);
    if (indexed.has(by)) return page.byIndex(scans.ofColumn(by), scans.ofNull(by));
    throw tooManyRows();
  }

  return { from: sql`(${await rows()})`, count, applyOrder: page.applyOrder };
}

export function tooManyRows(): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_TOO_COMPLEX',
    `The list would read more than ${ROWS_READ_MAX} rows to find or sort those of the page`,
    'Pass from_block and to_block, or a condition on a column with an index. `chainstead contracts add` with --index adds one.',
  );
}

function rankOf(resource: PgResource, { column, operator }: Condition): number {
  const types = ['bytea', 'numeric', 'text', 'bool'];
  return 2 * types.indexOf(codecOf(resource, column).name) + (operator === 'IN' ? 1 : 0);
}
