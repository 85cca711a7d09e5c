import { randomBytes } from 'node:crypto';
import { type Database, rawSql, Sql, type Statement, sql, statementOf } from '@chainstead/db';
import { testTier } from '../test-tier.ts';
import { TestkitError } from '../testkit-error.ts';

/** A node of `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)`. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  /** `InitPlan` and `SubPlan`: of an expression, whose rows the parent is not given. */
  readonly 'Parent Relationship'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

export interface Explained {
  readonly nodes: readonly PlanNode[];
  readonly text: string;
  /** Pages of tables and indexes that the statement touched. */
  readonly buffers: number;
}

/**
 * `generic`: the plan of a prepared statement, made without knowing the values, as the API's connections make it. `custom`: one that is
 * made for them, with the server's defaults.
 */
export type PlanKind = 'generic' | 'custom';

/** Runs a statement and gives every node of its plan. */
export async function explain(
  database: Database,
  statement: Sql | Statement,
  plan: PlanKind,
): Promise<Explained> {
  const { text, values } = statement instanceof Sql ? statementOf(statement) : statement;
  const name = rawSql(`explained_${randomBytes(6).toString('hex')}`);
  const rows = await database.transaction(async (transaction) => {
    const literals = values.map((value) =>
      isNone(value) ? 'NULL' : transaction.client.escapeLiteral(textOf(value)),
    );
    await transaction.query(sql`SET LOCAL plan_cache_mode = force_${rawSql(plan)}_plan`);
    if (plan === 'generic') await transaction.query(sql`SET LOCAL random_page_cost = 1.1`);
    await transaction.query(sql`PREPARE ${name} AS ${rawSql(text)}`);
    const explained = await transaction.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      sql`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE ${name}${rawSql(values.length === 0 ? '' : `(${literals.join(', ')})`)}`,
    );
    await transaction.query(sql`DEALLOCATE ${name}`);
    return explained;
  });
  const root = rows[0]?.['QUERY PLAN'][0].Plan;
  if (root === undefined) throw new TestkitError('EXPLAIN gave no plan');
  return {
    nodes: planNodes(root),
    text: JSON.stringify(root),
    buffers: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
  };
}

/** A node and everything below it. */
export function planNodes(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(planNodes)];
}

/** Rows of a table, or of all its partitions, that the plan looked at, whether they were wanted or not. */
export function rowsRead(nodes: readonly PlanNode[], table: string): number {
  // Partitions are named after the chain and the block that they begin with.
  const names = new RegExp(`^${table}(_\\d+_(\\d+|minvalue))?$`);
  return rowsScanned(nodes.filter((node) => names.test(node['Relation Name'] ?? '')));
}

/** Rows that scans came across, whether they were wanted or not. */
export function rowsScanned(scans: readonly PlanNode[]): number {
  return scans.reduce(
    (sum, scan) => sum + (scan['Actual Rows'] + (scan['Rows Removed by Filter'] ?? 0)) * scan['Actual Loops'],
    0,
  );
}

/** Rows that a node was given, all times that it ran together. */
export function rowsInto(node: PlanNode): number {
  return (node.Plans ?? [])
    .filter((child) => child['Parent Relationship'] === 'Outer')
    .reduce((sum, child) => sum + child['Actual Rows'] * child['Actual Loops'], 0);
}

/** Blocks with which the partitions of a table begin that were read; 0: the oldest one, which has no lower bound. */
export function partitionsRead({ nodes }: Explained, table: string): number[] {
  const read = nodes.filter((node) => node['Relation Name']?.startsWith(`${table}_`) && node['Actual Loops'] > 0);
  const starts = new Set(read.map((node) => node['Relation Name']?.split('_').at(-1)));
  return [...starts].map((start) => (start === 'minvalue' ? 0 : Number(start))).toSorted((a, b) => a - b);
}

/** Tables and indexes of the program, those of contracts included. */
const OWN_TABLES = sql`(SELECT pg_class.oid AS relation, nspname, relname, relkind FROM pg_class
  JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname IN ('public', 'contracts')) AS own`;

/**
 * What the planner knows of the tables: nothing, what `ANALYZE` found before most of the rows came, or how they are. A test that looks
 * at old statistics seeds a little, runs `ANALYZE`, and seeds the rest in a database without autovacuum; then it takes these in turn.
 */
const STATISTICS: readonly (readonly [name: string, prepare: (database: Database) => Promise<void>])[] = [
  ['with old statistics', async () => {}],
  [
    'without statistics',
    async (database) => {
      await database.query(
        sql`SELECT pg_clear_relation_stats(nspname, relname) FROM ${OWN_TABLES} WHERE relkind IN ('r', 'p', 'i')`,
      );
      await database.query(
        sql`SELECT pg_clear_attribute_stats(nspname, relname, attname, relkind = 'p') FROM ${OWN_TABLES} JOIN pg_attribute ON attrelid = relation
         WHERE relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped`,
      );
    },
  ],
  [
    'with fresh statistics',
    async (database) => {
      await database.query(sql`VACUUM ANALYZE`);
    },
  ],
];

/** Plans to test, for `describe.each`: both kinds with each state of the statistics, in the fast tier the generic plan with old statistics alone. */
export const PLANS = STATISTICS.flatMap(([statistics, prepare]) =>
  (['generic', 'custom'] as const).map((plan) => ({ plan, statistics, prepare })),
).slice(0, testTier() === 'fast' ? 1 : undefined);

function isNone(value: unknown): boolean {
  return value === null || value === undefined;
}

/** As Postgres reads a value of any type. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map((item) => JSON.stringify(textOf(item))).join(',')}}`;
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return value instanceof Date ? value.toISOString() : String(value);
}
