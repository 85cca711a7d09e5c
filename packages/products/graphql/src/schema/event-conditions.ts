import { type PgResource, sqlValueWithCodec, TYPES } from '@dataplan/pg';
import { type SQL, sql } from 'pg-sql2';
import { GraphqlRefusalError } from '../refusal.ts';
import type { EventArguments } from './event-arguments.ts';
import { BLOCK, codecOf, tableOf } from './row-sources.ts';

export interface Condition {
  readonly column: string;
  readonly operator: '=' | 'IN' | '>=' | '>' | '<=' | '<';
  readonly values: readonly SQL[];
}

/** Inclusive. */
export interface BlockBounds {
  readonly lowest: SQL;
  readonly highest: SQL;
  readonly isGiven: boolean;
}

export const ROW = sql.identifier('row');

export function columnOf(name: string): SQL {
  return sql`${ROW}.${sql.identifier(name)}`;
}

const VALUES_MAX = 100;
const BOUNDS = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;

export const OPERATORS = { '=': sql`=`, '>=': sql`>=`, '>': sql`>`, '<=': sql`<=`, '<': sql`<` } as const;

export function isRange(operator: Condition['operator']): boolean {
  return operator !== '=' && operator !== 'IN';
}

export function readConditions(resource: PgResource, args: EventArguments): readonly Condition[] {
  const encoded = (column: string, value: unknown): SQL => sqlValueWithCodec(value, codecOf(resource, column));
  return [
    ...Object.entries(args.where ?? {}).map(([column, value]): Condition => {
      if (value == null) throw withoutValue(`where.${column}`);
      return { column, operator: '=', values: [encoded(column, value)] };
    }),
    ...Object.entries(args.in ?? {}).map(([column, values]): Condition => {
      if (values == null) throw withoutValue(`in.${column}`);
      if (values.length > VALUES_MAX)
        throw new GraphqlRefusalError(
          'GRAPHQL_ARGUMENT_INVALID',
          `in.${column} has ${values.length} values, and ${VALUES_MAX} are allowed`,
          'Send several operations with fewer values each.',
        );
      return { column, operator: 'IN', values: values.map((value) => encoded(column, value)) };
    }),
    ...Object.entries(args.range ?? {}).flatMap(([column, bounds]) =>
      Object.entries(bounds ?? {}).map(([name, value]): Condition => {
        if (value == null) throw withoutValue(`range.${column}.${name}`);
        return { column, operator: BOUNDS[name as keyof typeof BOUNDS], values: [encoded(column, value)] };
      }),
    ),
  ];
}

export function conditionSql({ column, operator, values }: Condition): SQL {
  if (operator !== 'IN') return sql`${columnOf(column)} ${OPERATORS[operator]} ${sql.join(values, '')}`;
  return values.length === 0 ? sql`false` : sql`${columnOf(column)} IN (${sql.join(values, ', ')})`;
}

/** Times never fall as blocks rise, so `block_time` narrows the blocks too. */
export function blockBounds(
  resource: PgResource,
  chainId: SQL,
  args: EventArguments,
  conditions: readonly Condition[],
): BlockBounds {
  const bigint = (value: string): SQL => sqlValueWithCodec(value, TYPES.bigint);
  const lower = args.from_block == null ? [] : [bigint(args.from_block)];
  const upper = args.to_block == null ? [] : [bigint(args.to_block)];
  for (const { column, operator, values } of conditions) {
    const [value] = values;
    if (value === undefined || operator === 'IN' || (column !== BLOCK && column !== TIME)) continue;
    // After blocks with an earlier time; `<=`: also after those with the same time.
    const after = (isBelow: '<' | '<='): SQL =>
      column === BLOCK
        ? sql`(${value}${isBelow === '<' ? sql.blank : sql` + 1`})`
        : firstBlock(resource, chainId, sql`${columnOf(TIME)} ${OPERATORS[isBelow]} ${value}`);
    if (operator === '=' || operator === '>=') lower.push(after('<'));
    if (operator === '>') lower.push(after('<='));
    if (operator === '=' || operator === '<=') upper.push(sql`${after('<=')} - 1`);
    if (operator === '<') upper.push(sql`${after('<')} - 1`);
  }
  return {
    lowest: sql`greatest(${sql.join([bigint('0'), ...lower], ', ')})`,
    highest: sql`least(${sql.join([bigint(HIGHEST), ...upper], ', ')})`,
    isGiven: lower.length + upper.length > 0,
  };
}

const TIME = 'block_time';
const HIGHEST = '9223372036854775807';

/** The block after the last row that `isBelow`. Halves the range: one read of the key a step. */
function firstBlock(resource: PgResource, chainId: SQL, isBelow: SQL): SQL {
  const table = tableOf(resource);
  return sql`(WITH RECURSIVE steps(low, high) AS (
    SELECT 0::bigint, coalesce((SELECT last.block_number + 1 FROM ${table} AS last WHERE last.chain_id = ${chainId}
      ORDER BY last.chain_id DESC, last.block_number DESC LIMIT 1), 0)
    UNION ALL
    SELECT CASE WHEN ${isBelow} THEN ${columnOf(BLOCK)} + 1 ELSE low END, CASE WHEN ${isBelow} THEN high ELSE (low + high) / 2 END
    FROM steps CROSS JOIN LATERAL (
      SELECT probe.block_number, probe.block_time FROM ${table} AS probe
      WHERE probe.chain_id = ${chainId} AND probe.block_number >= (low + high) / 2
      ORDER BY probe.chain_id, probe.block_number LIMIT 1) AS ${ROW}
    WHERE low < high
  ) SELECT max(low) FROM steps)`;
}

function withoutValue(argument: string): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_ARGUMENT_INVALID',
    `${argument} has no value`,
    'Pass a value, or leave the member out.',
  );
}
