import type { PgResource, WithPgClient } from '@dataplan/pg';
import { type SQL, sql } from 'pg-sql2';
import {
  type BlockBounds,
  type Condition,
  columnOf,
  conditionSql,
  isRange,
  OPERATORS,
  ROW,
} from './event-conditions.ts';
import { BLOCK, LOG_PLACE, tableOf } from './row-sources.ts';

import { COUNT_MAX } from './total-count-plugin.ts';

export interface Scan {
  /** Column whose equality or range the index covers; null: only chain and blocks. */
  readonly column: string | null;
  /** Values of the column, read one by one as {@link EACH}; null: at most one. */
  readonly each: readonly SQL[] | null;
  readonly conditions: readonly SQL[];
  /** Columns of the index. In another order the planner may read the whole table. */
  readonly key: readonly string[];
  readonly prefix: readonly SQL[];
  readonly rest: readonly SQL[];
}

const EACH = sql`"each"."value"`;
export const POSITION = sql.identifier('Position');

export interface Scans {
  ofBlocks(): Scan;
  ofValues(condition: Condition): Scan;
  /** By an index, in its order, without nulls. */
  ofColumn(column: string): Scan;
  /** Null: a condition excludes rows without a value. */
  ofNull(column: string): Scan | null;
}

/** Without an estimate, the planner expects many rows and reads in index order. */
export function unknownToPlanner(value: SQL): SQL {
  return sql`(SELECT ${value})`;
}

export function createScans(chain: SQL, conditions: readonly Condition[], bounds: BlockBounds): Scans {
  const restOf = (isCovered: (condition: Condition) => boolean): readonly SQL[] =>
    conditions.filter((condition) => !isCovered(condition)).map(conditionSql);
  const isOfBlocks = ({ column, operator }: Condition): boolean => column === BLOCK && operator !== 'IN';
  const within = (columns: readonly string[], prefix: readonly SQL[]): readonly SQL[] =>
    (['>=', '<='] as const).map((side) => {
      const names = [...columns, 'chain_id', BLOCK].map(columnOf);
      const end = [chain, side === '>=' ? bounds.lowest : bounds.highest].map(unknownToPlanner);
      return sql`(${sql.join(names, ', ')}) ${OPERATORS[side]} (${sql.join([...prefix, ...end], ', ')})`;
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
      return {
        ...this.ofBlocks(),
        ...{ column, key: [column, 'chain_id', ...LOG_PLACE] },
        conditions: [sql`${columnOf(column)} IS NULL`, ...within([], [])],
      };
    },
  };
}

/** A separate range per value, however its digits are written. */
export function forEach(scan: Scan, atLeast: number, rowsMax: number, read: (max: number) => SQL): SQL {
  if (scan.each === null || scan.column === null) return read(Math.max(atLeast, rowsMax));
  const { each } = scan;
  const max = Math.max(atLeast, Math.floor(rowsMax / each.length));
  return sql`SELECT ${ROW}.* FROM (SELECT DISTINCT value FROM unnest(ARRAY[${sql.join(each, ', ')}]) AS given (value)) AS "each"
    CROSS JOIN LATERAL (${read(max)}) AS ${ROW}`;
}

export function scanned(resource: PgResource, scan: Scan, start: readonly SQL[], order: SQL): SQL {
  return sql`SELECT ${columnsOf(resource)} FROM ${tableOf(resource)} AS ${ROW} WHERE ${and([...scan.conditions, ...start])} ${order}`;
}

/** One row more than allowed. The repeated order saves a sort. */
export function numberedRows(rows: SQL, order: SQL, max: number): SQL {
  return sql`SELECT ${ROW}.*, row_number() OVER () AS ${POSITION} FROM (${rows} LIMIT ${sql.literal(max + 1)}) AS ${ROW} ${order}`;
}

export function countOf(resource: PgResource, scan: Scan, rowsMax: number): SQL {
  const found = forEach(scan, 0, rowsMax, (max) => {
    const order = orderOf(scan.key, 'DESC');
    const numbered = numberedRows(scanned(resource, scan, [], order), order, max);
    const isCut = sql`${ROW}.${POSITION} > ${sql.literal(max)}`;
    const isFound = scan.rest.length === 0 ? sql`true` : and(scan.rest);
    return sql`SELECT ${isCut} AS is_cut FROM (${numbered}) AS ${ROW} WHERE ${isCut} OR (${isFound}) LIMIT ${sql.literal(COUNT_MAX + 1)}`;
  });
  return sql`SELECT count(*) FILTER (WHERE NOT is_cut) AS count, coalesce(bool_or(is_cut), false) AS is_cut
    FROM (SELECT * FROM (${found}) AS each_found LIMIT ${sql.literal(COUNT_MAX + 1)}) AS found`;
}

export async function isSmall(
  resource: PgResource,
  scan: Scan,
  withClient: WithPgClient,
  rowsMax: number,
): Promise<boolean> {
  const limit = sql.literal(rowsMax + 1);
  const ordered = scanned(resource, scan, [], orderOf(scan.key, 'DESC'));
  const all = forEach(scan, 0, rowsMax, () => sql`${ordered} LIMIT ${limit}`);
  const { text, values } = sql.compile(
    sql`SELECT count(*)::int AS rows FROM (SELECT 1 FROM (${all}) AS ${ROW} LIMIT ${limit}) AS counted`,
  );
  const { rows } = await withClient(null, (client) => client.query<{ rows: number }>({ text, values }));
  return Number(rows[0]?.rows) <= rowsMax;
}

export function columnsOf(resource: PgResource): SQL {
  return sql.join(Object.keys(resource.codec.attributes ?? {}).map(columnOf), ', ');
}

export function orderOf(key: readonly string[], direction: 'ASC' | 'DESC'): SQL {
  const columns = key.map((name) => sql`${columnOf(name)} ${direction === 'DESC' ? sql`DESC` : sql`ASC`}`);
  return sql`ORDER BY ${sql.join(columns, ', ')}`;
}

export function and(conditions: readonly SQL[]): SQL {
  return sql.join(
    conditions.map((one) => sql`(${one})`),
    ' AND ',
  );
}
