import {
  type PgResource,
  type PgSelectQueryBuilder,
  sqlValueWithCodec,
  TYPES,
  type WithPgClient,
} from '@dataplan/pg';
import { type SQL, sql } from 'pg-sql2';
import { GraphqlRefusalError } from '../refusal.ts';
import type { EventArguments } from './event-arguments.ts';
import { blockBounds, type Condition, isRange, readConditions } from './event-conditions.ts';
import { createPage } from './event-page.ts';
import { countOf, createScans, isSmall, type Scan } from './event-scans.ts';
import { chainIdOf } from './row-range.ts';
import { codecOf, type RowSource } from './row-sources.ts';

export interface EventList {
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
