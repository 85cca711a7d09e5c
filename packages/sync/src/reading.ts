/**
 * How statements of derived states read what is stored, beside the rows that changed. On one server they read it where it lies, each by a probe of an
 * index. Citus plans no correlated subquery over a distributed table, and reads all of one that is on the inner side of an outer join: there, what a
 * statement looks for is fetched into temporary tables right before it runs.
 */
import type { Transaction } from '@chainstead/db';
import { fetchFound } from './fetch-look-up.ts';
import { findAt, type LookUp } from './look-up.ts';
import { emptyTemporary } from './temporary-table.ts';

/** Rows of one of the state's own tables, by (the beginning of) its key. */
export interface StoredRows {
  readonly table: string;
  readonly key: readonly string[];
  /** A query of the keys that are wanted, each once, over changed rows and subjects alone. */
  readonly wanted: string;
}

export interface Reading {
  /** Whether everything is read where it lies: rows can be locked in an order then. */
  readonly isInPlace: boolean;
  /** A relation, which wants an alias, that has the wanted rows of the table; it may have others too. */
  stored(rows: StoredRows): string;
  /** The subquery, asked by SQL for each of `by`. */
  lookUp<By extends string>(lookUp: LookUp<By>, at: Readonly<Record<By, string>>): string;
}

/** Where it lies. */
export const IN_PLACE: Reading = {
  isInPlace: true,
  stored: ({ table }) => table,
  lookUp: (lookUp, at) => findAt(lookUp, at),
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

  async function fetchFor(transaction: Transaction, statement: string, filled = new Set<Fetch>()): Promise<void> {
    for (const fetch of fetches.values()) {
      if (filled.has(fetch) || !new RegExp(`\\b${fetch.name}\\b`).test(statement)) continue;
      await fetchFor(transaction, fetch.reads, filled);
      await fetch.fill(transaction);
      filled.add(fetch);
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
  await emptyTemporary(transaction, name, `LIKE ${table}`, key);
  const columns = key.join(', ');
  await transaction.query(
    `WITH wanted AS MATERIALIZED (SELECT DISTINCT ${columns} FROM (${wanted}) AS keys)
     INSERT INTO ${name} SELECT held.* FROM ${table} AS held JOIN wanted USING (${columns})`,
  );
}
