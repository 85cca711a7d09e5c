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
import {
  type BlockBounds,
  blockBounds,
  type Condition,
  codecOf,
  columnOf,
  conditionSql,
  ROW,
  readConditions,
  tableOf,
} from './event-conditions.ts';
import { BLOCK, LOG_PLACE, type RowSource } from './row-sources.ts';
import { COUNT_MAX } from './total-count-plugin.ts';

/** Rows of an event's table, as parts of a statement. */
export interface EventList {
  /** A query with at least the rows of the page, and no earlier ones. */
  readonly from: SQL;
  /** One row: `count`, and `is_cut` if further rows may match. */
  readonly count: SQL;
  /** Orders the rows of the page. */
  applyOrder(query: PgSelectQueryBuilder): void;
}

/** Rows that a list reads if its conditions or its order have no index. */
export const ROWS_READ_MAX = 100_000;

/** A range of an index. */
interface Scan {
  /** Column whose equality or range it covers; null: only chain and blocks. */
  readonly column: string | null;
  /** Values of the column, one by one; null: at most one. Each is {@link EACH} in the conditions. */
  readonly each: readonly SQL[] | null;
  /** Of {@link ROW}. */
  readonly conditions: readonly SQL[];
  /** Columns of the index. */
  readonly key: readonly string[];
  /** Values of the first columns of the index, which all its rows have. */
  readonly prefix: readonly SQL[];
  /** Conditions that it does not cover. */
  readonly rest: readonly SQL[];
}

const EACH = sql`"each"."value"`;
/** Number of a row in its range. No column has a capital. */
const POSITION = sql.identifier('Position');

/**
 * Returns the rows of a list. Without conditions and orders that have no index, it reads one range of an index, and stops after a page. Otherwise
 * it reads at most {@link ROWS_READ_MAX} rows: of the smallest range, which are sorted, or in the order of the list until the page is full.
 * @param rowsMax rows that it may read
 * @throws GraphqlRefusalError
 */
export async function eventList(
  resource: PgResource,
  source: RowSource,
  args: EventArguments,
  withClient: WithPgClient,
  rowsMax = ROWS_READ_MAX,
): Promise<EventList> {
  const chain = sqlValueWithCodec(args.chain, TYPES.bigint);
  const conditions = readConditions(resource, args);
  const bounds = blockBounds(resource, chain, args, conditions);
  const scans = createScans(resource, { chain, conditions, bounds });
  const indexed = new Set(source.finders.map(({ column }) => column));
  const [equal] = conditions
    .filter(({ column, operator }) => (operator === '=' || operator === 'IN') && indexed.has(column))
    .toSorted((one, other) => rankOf(resource, one) - rankOf(resource, other));
  const ranged = new Set(
    conditions.filter(({ column, operator }) => isRange(operator) && indexed.has(column)).map(({ column }) => column),
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

/** Returns the error of a list that would read more than {@link ROWS_READ_MAX} rows. */
export function tooManyRows(): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_TOO_COMPLEX',
    `The list would read more than ${ROWS_READ_MAX} rows to find or sort those of the page`,
    'Pass from_block and to_block, or a condition on a column with an index. `chainstead contracts add` with --index adds one.',
  );
}

function isRange(operator: Condition['operator']): boolean {
  return operator !== '=' && operator !== 'IN';
}

/** Values of the first types occur in the fewest rows. */
function rankOf(resource: PgResource, { column, operator }: Condition): number {
  const types = ['bytea', 'numeric', 'text', 'bool'];
  return 2 * types.indexOf(codecOf(resource, column).name) + (operator === 'IN' ? 1 : 0);
}

interface Scans {
  /** By chain and block. */
  ofBlocks(): Scan;
  /** By values of a column with an index, chain and block. */
  ofValues(condition: Condition): Scan;
  /** By a column with an index, in its order. Rows without a value are left out. */
  ofColumn(column: string): Scan;
  /** Rows without a value of a column with an index. Null: a condition excludes them. */
  ofNull(column: string): Scan | null;
}

/** The planner has no estimate for the value of a subquery. So it expects many rows, and reads in the order of the index. */
function unknownToPlanner(value: SQL): SQL {
  return sql`(SELECT ${value})`;
}

function createScans(
  resource: PgResource,
  {
    chain,
    conditions,
    bounds,
  }: { readonly chain: SQL; readonly conditions: readonly Condition[]; readonly bounds: BlockBounds },
): Scans {
  const restOf = (isCovered: (condition: Condition) => boolean): readonly SQL[] =>
    conditions.filter((condition) => !isCovered(condition)).map(conditionSql);
  const isOfBlocks = ({ column, operator }: Condition): boolean => column === BLOCK && operator !== 'IN';
  /** Row comparisons over the first columns of an index. */
  const within = (columns: readonly string[], prefix: readonly SQL[]): readonly SQL[] =>
    (['>=', '<='] as const).map((side) => {
      const names = [...columns, 'chain_id', BLOCK].map(columnOf);
      const end = [chain, side === '>=' ? bounds.lowest : bounds.highest].map(unknownToPlanner);
      return sql`(${sql.join(names, ', ')}) ${sql.raw(side)} (${sql.join([...prefix, ...end], ', ')})`;
    });
  return {
    ofBlocks: () => ({
      ...{ column: null, each: null, conditions: within([], []), rest: restOf(isOfBlocks) },
      ...{ key: ['chain_id', ...LOG_PLACE], prefix: [chain].map(unknownToPlanner) },
    }),
    ofValues(condition) {
      const { column, values } = condition;
      const [only, ...others] = values;
      const each = only === undefined || others.length > 0 ? values : null;
      const prefix = [each === null && only !== undefined ? unknownToPlanner(only) : EACH];
      return {
        ...{ column, each, conditions: within([column], prefix) },
        rest: restOf((one) => one === condition || isOfBlocks(one)),
        ...{ key: [column, 'chain_id', ...LOG_PLACE], prefix: [...prefix, unknownToPlanner(chain)] },
      };
    },
    ofColumn(column) {
      const isCovered = (one: Condition): boolean => one.column === column && isRange(one.operator);
      const covered = conditions.filter(isCovered);
      return {
        ...{ column, each: null, key: [column, 'chain_id', ...LOG_PLACE], prefix: [] },
        conditions: [
          sql`${columnOf(column)} IS NOT NULL`,
          ...covered.map((one) => conditionSql({ ...one, values: one.values.map(unknownToPlanner) })),
        ],
        // The index has rows of all chains in the order of the column.
        rest: [
          sql`${columnOf('chain_id')} = ${chain}`,
          ...(bounds.isGiven
            ? [
                sql`${columnOf(BLOCK)} BETWEEN ${unknownToPlanner(bounds.lowest)} AND ${unknownToPlanner(bounds.highest)}`,
              ]
            : []),
          ...restOf((one) => isCovered(one) || isOfBlocks(one)),
        ],
      };
    },
    ofNull(column) {
      if (conditions.some((one) => one.column === column)) return null;
      const { rest, ...ofBlocks } = this.ofBlocks();
      return {
        ...ofBlocks,
        rest,
        column,
        conditions: [sql`${columnOf(column)} IS NULL`, ...ofBlocks.conditions],
      };
    },
  };
}

interface Page {
  /** Column of the order; null: the place of the row. */
  readonly column: string | null;
  applyOrder(query: PgSelectQueryBuilder): void;
  /** Rows of a range whose index has the order of the list. */
  inOrder(scan: Scan): SQL;
  /** Rows by the index of the column, then those without a value. */
  byIndex(scan: Scan, ofNull: Scan | null): SQL;
  /** All rows of a range from the cursor on. */
  sorted(scan: Scan): SQL;
}

function createPage(resource: PgResource, args: EventArguments, chain: SQL, rowsMax: number): Page {
  const direction = args.order ?? 'DESC';
  const column = args.orderBy == null || args.orderBy === BLOCK ? null : args.orderBy;
  const side = direction === 'DESC' ? sql`<` : sql`>`;
  /** Distinguishes cursors of different orders. */
  const tag = `${column ?? BLOCK} ${direction}`;
  const size = args.first + 1;
  const place = LOG_PLACE.filter((name) => name !== column);
  const after = args.after == null ? null : readCursor(args.after);

  interface After {
    /** Null: the row has no value. */
    readonly value: SQL | null;
    readonly place: readonly SQL[];
  }

  function readCursor(cursor: string): After {
    const [given, ...values] = cursorValues(cursor, 1 + (column === null ? 0 : 1) + place.length);
    const [value, ...placed] = column === null ? [null, ...values] : values;
    if (given !== tag || placed.includes(null)) throw foreignCursor();
    const textOf = (name: string, text: string | null | undefined): SQL =>
      unknownToPlanner(sql`${sql.value(text ?? null)}::${codecOf(resource, name).sqlType}`);
    return {
      value: column === null || value == null ? null : textOf(column, value),
      place: place.map((name, index) => textOf(name, placed[index])),
    };
  }

  function rowsAfter(columns: readonly string[], values: readonly SQL[]): SQL {
    return sql`(${sql.join(columns.map(columnOf), ', ')}) ${side} (${sql.join(values, ', ')})`;
  }

  /** Rows of a page from one range, in the order of its index. */
  function pageOf(scan: Scan, start: readonly SQL[]): SQL {
    const order = orderOf(scan.key, direction);
    const read = (max: number): SQL => {
      if (scan.rest.length === 0) return sql`${scanned(resource, scan, start, order)} LIMIT ${literal(size)}`;
      const numbered = numberedRows(scanned(resource, scan, start, order), order, max);
      return sql`SELECT ${columnsOf(resource)} FROM (${numbered}) AS ${ROW} WHERE ${untilRead(max, scan.rest)} ${order} LIMIT ${literal(size)}`;
    };
    return forEach(scan, size, rowsMax, read);
  }

  return {
    column,
    applyOrder(query) {
      const of = (name: string): SQL => sql`${query.alias}.${sql.identifier(name)}`;
      const add = (fragment: SQL, codec: PgCodec, nulls?: 'LAST'): void =>
        query.orderBy({
          ...{ fragment, codec: inCursor(codec), direction, nullable: nulls !== undefined },
          ...(nulls !== undefined && { nulls }),
        });
      add(sql`${sql.value(tag)}::text`, TYPES.text);
      if (column !== null) add(of(column), codecOf(resource, column), 'LAST');
      for (const name of place) add(of(name), codecOf(resource, name));
      query.setOrderIsUnique();
    },
    inOrder: (scan) => pageOf(scan, after === null ? [] : [rowsAfter(scan.key, [...scan.prefix, ...after.place])]),
    byIndex(scan, ofNull) {
      const value = after?.value ?? null;
      const key = unknownToPlanner(chain);
      const parts = [
        ...(after !== null && value === null
          ? []
          : [
              pageOf(scan, after === null || value === null ? [] : [rowsAfter(scan.key, [value, key, ...after.place])]),
            ]),
        ...(ofNull === null
          ? []
          : [pageOf(ofNull, after === null || value !== null ? [] : [rowsAfter(ofNull.key, [key, ...after.place])])]),
      ];
      if (parts.length === 0) return sql`SELECT ${columnsOf(resource)} FROM ${tableOf(resource)} AS ${ROW} WHERE false`;
      return sql.join(
        parts.map((part) => sql`(${part})`),
        ' UNION ALL ',
      );
    },
    sorted(scan) {
      const rest = [...scan.rest, ...(after === null ? [] : [inSorted(after)])];
      const read = (): SQL => scanned(resource, scan, [], orderOf(scan.key, 'DESC'));
      const all = forEach(scan, size, rowsMax, read);
      return sql`SELECT ${columnsOf(resource)} FROM (${all}) AS ${ROW}${rest.length === 0 ? sql.blank : sql` WHERE ${and(rest)}`}`;
    },
  };

  /** Rows without a value are the last ones in both directions. */
  function inSorted({ value, place: values }: After): SQL {
    if (column === null) return rowsAfter(place, values);
    const isNull = sql`${columnOf(column)} IS NULL`;
    if (value === null) return sql`${isNull} AND ${rowsAfter(place, values)}`;
    return sql`(${isNull} OR ${rowsAfter([column, ...place], [value, ...values])})`;
  }
}

/** Returns one query for all values of a range: each is a separate range, whatever number of digits equal values have. */
function forEach(scan: Scan, atLeast: number, rowsMax: number, read: (max: number) => SQL): SQL {
  if (scan.each === null || scan.column === null) return read(Math.max(atLeast, rowsMax));
  const { each } = scan;
  const max = Math.max(atLeast, Math.floor(rowsMax / each.length));
  return sql`SELECT ${ROW}.* FROM (SELECT DISTINCT value FROM unnest(ARRAY[${sql.join(each, ', ')}]) AS given (value)) AS "each"
    CROSS JOIN LATERAL (${read(max)}) AS ${ROW}`;
}

/** Rows of a range. */
function scanned(resource: PgResource, scan: Scan, start: readonly SQL[], order: SQL): SQL {
  return sql`SELECT ${columnsOf(resource)} FROM ${tableOf(resource)} AS ${ROW} WHERE ${and([...scan.conditions, ...start])} ${order}`;
}

/** Rows with their number in the range, and one more than allowed. The order is repeated for the planner: otherwise it would sort them. */
function numberedRows(rows: SQL, order: SQL, max: number): SQL {
  return sql`SELECT ${ROW}.*, row_number() OVER () AS ${POSITION} FROM (${rows} LIMIT ${literal(max + 1)}) AS ${ROW} ${order}`;
}

/** Refuses the row after the last allowed one, by a division by zero: it is only read if the page is not full before. */
function untilRead(max: number, rest: readonly SQL[]): SQL {
  return sql`CASE WHEN 1 / (${literal(max + 1)} - ${ROW}.${POSITION}) IS NOT NULL THEN ${and(rest)} END`;
}

function countOf(resource: PgResource, scan: Scan, rowsMax: number): SQL {
  const found = forEach(scan, 0, rowsMax, (max) => {
    const order = orderOf(scan.key, 'DESC');
    const numbered = numberedRows(scanned(resource, scan, [], order), order, max);
    const isCut = sql`${ROW}.${POSITION} > ${literal(max)}`;
    const isFound = scan.rest.length === 0 ? sql`true` : and(scan.rest);
    return sql`SELECT ${isCut} AS is_cut FROM (${numbered}) AS ${ROW} WHERE ${isCut} OR (${isFound}) LIMIT ${literal(COUNT_MAX + 1)}`;
  });
  return sql`SELECT count(*) FILTER (WHERE NOT is_cut) AS count, coalesce(bool_or(is_cut), false) AS is_cut
    FROM (${found} LIMIT ${literal(COUNT_MAX + 1)}) AS found`;
}

async function isSmall(resource: PgResource, scan: Scan, withClient: WithPgClient, rowsMax: number): Promise<boolean> {
  const limit = literal(rowsMax + 1);
  const all = forEach(
    scan,
    0,
    rowsMax,
    () => sql`SELECT 1 FROM ${tableOf(resource)} AS ${ROW} WHERE ${and(scan.conditions)} LIMIT ${limit}`,
  );
  const { text, values } = sql.compile(
    sql`SELECT count(*)::int AS rows FROM (SELECT 1 FROM (${all}) AS ${ROW} LIMIT ${limit}) AS counted`,
  );
  const { rows } = await withClient(null, (client) => client.query<{ rows: number }>({ text, values }));
  return Number(rows[0]?.rows) <= rowsMax;
}

function columnsOf(resource: PgResource): SQL {
  return sql.join(Object.keys(resource.codec.attributes ?? {}).map(columnOf), ', ');
}

function orderOf(key: readonly string[], direction: 'ASC' | 'DESC'): SQL {
  return sql`ORDER BY ${sql.join(
    key.map((name) => sql`${columnOf(name)} ${sql.raw(direction)}`),
    ', ',
  )}`;
}

function and(conditions: readonly SQL[]): SQL {
  return sql.join(
    conditions.map((one) => sql`(${one})`),
    ' AND ',
  );
}

function literal(value: number): SQL {
  return sql.literal(value);
}
