import { type PgCodec, type PgResource, sqlValueWithCodec, TYPES } from '@dataplan/pg';
import { type SQL, sql } from 'pg-sql2';
import { GraphqlRefusalError } from '../refusal.ts';
import { cursorValues } from './cursor.ts';
import { unknownToPlanner } from './event-scans.ts';
import { BLOCK, codecOf as columnCodec, type Finder, type RowArguments, type RowSource } from './row-sources.ts';

export interface RowRange {
  readonly conditions: readonly SQL[];
  readonly after: SQL | null;
  readonly order: readonly {
    readonly column: SQL;
    readonly codec: PgCodec;
    readonly direction: 'ASC' | 'DESC';
  }[];
}

/** @throws GraphqlRefusalError unless exactly one argument has a value */
export function chainIdOf({ chain, chain_id: id }: Pick<RowArguments, 'chain' | 'chain_id'>): string {
  const [only, ...others] = [chain, id].flatMap((value) => value ?? []);
  if (only === undefined || others.length > 0)
    throw new GraphqlRefusalError(
      'GRAPHQL_ARGUMENT_INVALID',
      'A list needs either chain or chain_id',
      'Pass chain with a name or an id.',
    );
  return only;
}

interface KeyPart {
  readonly column: SQL;
  readonly codec: PgCodec;
  readonly value: SQL;
}

/** The planner does not know the range's ends, so it does not sort. @throws GraphqlRefusalError */
export function rowRange(resource: PgResource, source: RowSource, args: RowArguments, alias: SQL): RowRange {
  const conditions: SQL[] = [];
  const columnOf = (name: string): SQL => sql`${alias}.${sql.identifier(name)}`;
  const codecOf = (name: string): PgCodec => columnCodec(resource, name);
  const id = sqlValueWithCodec(chainIdOf(args), TYPES.bigint);
  const chain: KeyPart = { column: columnOf('chain_id'), codec: TYPES.bigint, value: id };
  const found = findRows(source, args, { columnOf, codecOf });
  const key = [...found.key, ...(found.hasChain ? [chain] : [])];
  const isBounded = source.order[0] === BLOCK;
  if (isBounded) {
    const columns = [...key.map(({ column }) => column), columnOf(BLOCK)];
    const endOf = (block: string) =>
      [...key.map(({ value }) => value), sqlValueWithCodec(block, TYPES.bigint)].map(unknownToPlanner);
    for (const [side, block, end] of [
      [sql`>=`, args.from_block, LOWEST],
      [sql`<=`, args.to_block, HIGHEST],
    ] as const) {
      conditions.push(sql`(${sql.join(columns, ', ')}) ${side} (${sql.join(endOf(block ?? end), ', ')})`);
      // Postgres prunes partitions by conditions on single columns only.
      if (source.isPartitioned && block != null)
        conditions.push(sql`${columnOf(BLOCK)} ${side} ${sqlValueWithCodec(block, TYPES.bigint)}`);
    }
  } else for (const { column, value } of key) conditions.push(sql`${column} = ${value}`);
  if (!found.hasChain || source.isPartitioned) conditions.push(sql`${chain.column} = ${chain.value}`);
  conditions.push(...found.rest);
  if (source.order.length === 0) return { conditions, after: null, order: [] };
  const direction = args.order ?? 'DESC';
  const order = [...key, ...source.order.map((name) => ({ column: columnOf(name), codec: codecOf(name) }))];
  const after = args.after == null ? null : rowsAfter(args.after, order, direction);
  return { conditions, after, order: order.map(({ column, codec }) => ({ column, codec, direction })) };
}

function rowsAfter(
  cursor: string,
  order: readonly Pick<KeyPart, 'column' | 'codec'>[],
  direction: 'ASC' | 'DESC',
): SQL {
  const texts = cursorValues(cursor, order.length);
  const columns = order.map(({ column }) => column);
  const values = order.map(({ codec }, index) =>
    unknownToPlanner(sql`${sql.value(texts[index] ?? '')}::${codec.sqlType}`),
  );
  return sql`(${sql.join(columns, ', ')}) ${direction === 'DESC' ? sql`<` : sql`>`} (${sql.join(values, ', ')})`;
}

const LOWEST = '0';
const HIGHEST = '9223372036854775807';

interface Columns {
  readonly columnOf: (name: string) => SQL;
  readonly codecOf: (name: string) => PgCodec;
}

interface Found {
  readonly key: readonly KeyPart[];
  readonly hasChain: boolean;
  readonly rest: readonly SQL[];
}

function findRows(
  { finders, isFound }: RowSource,
  { where }: RowArguments,
  { columnOf, codecOf }: Columns,
): Found {
  const given = Object.entries(where ?? {});
  const [entry, ...others] = given;
  if (others.length > 0 || (entry === undefined && (isFound || where != null)) || entry?.[1] === null)
    throw new GraphqlRefusalError(
      'GRAPHQL_ARGUMENT_INVALID',
      'where needs exactly one member with a value',
      'Filter the rows of one value in your program by the others.',
    );
  if (entry === undefined) return { key: [], hasChain: true, rest: [] };
  const finder = finders.find(({ name }) => name === entry[0]);
  if (finder === undefined) throw new RangeError(`There is no finder ${entry[0]}`);
  return byFinder(finder, { column: columnOf(finder.column), codec: codecOf(finder.column) }, entry[1], columnOf);
}

function byFinder(
  { key, hasChain }: Finder,
  { column, codec }: Pick<KeyPart, 'column' | 'codec'>,
  given: unknown,
  columnOf: (name: string) => SQL,
): Found {
  const value = sqlValueWithCodec(given, codec);
  if (key === null) return { key: [{ column, codec, value }], hasChain, rest: [] };
  const keyOf = sql.identifier('analytics', key.of);
  const isOfText = key.of === 'transaction_key' || key.of === 'block_key';
  const part: KeyPart = {
    column: key.column === null ? sql`${keyOf}(${column})` : columnOf(key.column),
    codec: TYPES.bigint,
    value: isOfText ? sql`${keyOf}(analytics.hex(${value}))` : sql`${keyOf}(${value})`,
  };
  return { key: [part], hasChain, rest: [sql`${column} = ${value}`] };
}
