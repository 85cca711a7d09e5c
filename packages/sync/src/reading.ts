/**
 * How statements of derived states read what is stored, beside the rows that changed. On one server they read it where it lies, each by a probe of an
 * index. Citus plans no correlated subquery over a distributed table, and reads all of one that is on the inner side of an outer join: there, what a
 * statement looks for is fetched into temporary tables right before it runs.
 */
import type { Transaction } from '@chainstead/db';

/** Rows of one of the state's own tables, by (the beginning of) its key. */
export interface StoredRows {
  readonly table: string;
  readonly key: readonly string[];
  /** A query of the keys that are wanted, each once, over changed rows and subjects alone. */
  readonly wanted: string;
}

/** A subquery over rows that the state counts, asked once for each of what is wanted. */
export interface LookUp<By extends string> {
  /** Unique among those of all states. */
  readonly name: string;
  /** What it is asked by: names that `wanted` has as columns, with their types. */
  readonly by: Readonly<Record<By, string>>;
  /** A query of `by`, over changed rows, subjects and what other look-ups found. */
  readonly wanted: string;
  /** Its columns with their types. */
  readonly found: Readonly<Record<string, string>>;
  /** The subquery. @param at SQL for each of `by` */
  find(at: Readonly<Record<By, string>>): string;
}

export interface Reading {
  /** Whether everything is read where it lies: rows can be locked in an order then. */
  readonly isInPlace: boolean;
  /** A relation, which wants an alias, that has the wanted rows of the table; it may have others too. */
  stored(rows: StoredRows): string;
  /** The subquery, asked by SQL for each of `by`. */
  lookUp<By extends string>(lookUp: LookUp<By>, at: Readonly<Record<By, string>>): string;
}

/** A look-up whose names are told by `by`. */
export function defineLookUp<By extends string>(lookUp: LookUp<By>): LookUp<By> {
  return lookUp;
}

/** A relation's columns of the same names, to ask by. */
export function columnsOf<By extends string>(relation: string, { by }: Pick<LookUp<By>, 'by'>): Record<By, string> {
  const names = Object.keys(by) as By[];
  return Object.fromEntries(names.map((name) => [name, `${relation}.${name}`])) as Record<By, string>;
}

/** Where it lies. */
export const IN_PLACE: Reading = {
  isInPlace: true,
  stored: ({ table }) => table,
  lookUp: ({ find }, at) => find(at),
};

/** Runs statements of a derived state. @param spread whether tables that they name are distributed */
export async function runDerived(
  transaction: Transaction,
  spread: boolean,
  statementsOf: (reading: Reading) => readonly string[],
): Promise<void> {
  const fetched = spread ? createFetchedReading() : null;
  for (const statement of statementsOf(fetched?.reading ?? IN_PLACE)) {
    await fetched?.fetchFor(transaction, statement);
    await transaction.query(statement);
  }
}

/** A temporary table, and how it is filled. */
interface Fetch {
  readonly name: string;
  /** Whatever it reads is filled before it. */
  readonly reads: string;
  fill(transaction: Transaction): Promise<void>;
}

interface FetchedReading {
  readonly reading: Reading;
  /** Fills what the statement reads, with what is stored now. */
  fetchFor(transaction: Transaction, statement: string): Promise<void>;
}

function createFetchedReading(): FetchedReading {
  const fetches = new Map<string, Fetch>();

  async function fetchFor(transaction: Transaction, statement: string): Promise<void> {
    for (const fetch of fetches.values()) {
      if (!new RegExp(`\\b${fetch.name}\\b`).test(statement)) continue;
      await fetchFor(transaction, fetch.reads);
      await fetch.fill(transaction);
    }
  }

  return {
    reading: {
      isInPlace: false,
      stored(rows) {
        const key = `${rows.table} ${rows.wanted}`;
        const name = fetches.get(key)?.name ?? `stored_${rows.table}_${fetches.size}`;
        fetches.set(key, { name, reads: rows.wanted, fill: (transaction) => fetchStored(transaction, name, rows) });
        return name;
      },
      lookUp(lookUp, at) {
        const name = `found_${lookUp.name}`;
        fetches.set(name, { name, reads: lookUp.wanted, fill: (transaction) => fetchFound(transaction, name, lookUp) });
        const columns = Object.keys(lookUp.found).map((column) => `fetched.${column}`);
        const isAsked = Object.entries(at).map(([column, sql]) => `fetched.by_${column} = ${sql}`);
        return `SELECT ${columns.join(', ')} FROM ${name} AS fetched WHERE ${isAsked.join(' AND ')}`;
      },
    },
    fetchFor,
  };
}

async function fetchStored(transaction: Transaction, name: string, { table, key, wanted }: StoredRows): Promise<void> {
  await emptyTemporary(transaction, name, `LIKE ${table}`);
  const columns = key.join(', ');
  await transaction.query(
    `WITH wanted AS MATERIALIZED (SELECT DISTINCT ${columns} FROM (${wanted}) AS keys)
     INSERT INTO ${name} SELECT held.* FROM ${table} AS held JOIN wanted USING (${columns})`,
  );
}

/** One query for each: with values instead of columns it goes to the shard that has the rows, and stops at the first. */
async function fetchFound<By extends string>(
  transaction: Transaction,
  name: string,
  { by, found, wanted, find }: LookUp<By>,
): Promise<void> {
  const columns = Object.entries<string>(by);
  await emptyTemporary(
    transaction,
    name,
    [
      ...columns.map(([column, type]) => `by_${column} ${type}`),
      ...Object.entries(found).map((pair) => pair.join(' ')),
    ].join(', '),
  );
  const keys = await transaction.query<Record<string, string>>(
    `SELECT DISTINCT ${columns.map(([column]) => `${column}::text AS ${column}`).join(', ')} FROM (${wanted}) AS keys`,
  );
  for (const key of keys) {
    const at = Object.fromEntries(
      columns.map(([column, type]) => [column, `'${key[column]?.replaceAll("'", "''")}'::${type}`]),
    );
    await transaction.query(
      `INSERT INTO ${name} SELECT ${Object.values(at).join(', ')}, answer.* FROM (${find(at as Record<By, string>)}) AS answer`,
    );
  }
}

async function emptyTemporary(transaction: Transaction, name: string, columns: string): Promise<void> {
  const [existing] = await transaction.query(
    'SELECT 1 AS found FROM pg_class WHERE relname = $1 AND relnamespace = pg_my_temp_schema()',
    [name],
  );
  await transaction.query(
    existing === undefined ? `CREATE TEMP TABLE ${name} (${columns}) ON COMMIT DELETE ROWS` : `DELETE FROM ${name}`,
  );
}
