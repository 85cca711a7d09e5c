/** Predicted effects of migrating a database, from the text of its migrations and the size of its tables. Read-only. */
import type { Database } from '../database.ts';
import { MIGRATIONS_FOLDER, type Migration, readMigrations } from '../migrations/read-migrations.ts';
import { pendingMigrations } from '../migrations/schema-state.ts';
import { summariseMigration } from './migration-summary.ts';
import { type EffectLock, effectsOf, type StatementEffect } from './statement-effects.ts';
import { readUpgradedTables, type TouchedTable, type UpgradedTables } from './touched-tables.ts';

export interface MigrationsPlan {
  /** Number of migrations that the database has. */
  readonly applied: number;
  readonly pending: readonly PlannedMigration[];
}

export interface PlannedMigration {
  readonly name: string;
  /** One-line summary. */
  readonly summary: string;
  /** Approximate duration, during which its tables are locked. */
  readonly seconds: number;
  /** Approximate disk space needed. */
  readonly bytes: number;
  readonly locks: readonly PlannedLock[];
  readonly steps: readonly PlannedStep[];
}

/** A table with rows that is locked against others. */
export interface PlannedLock {
  readonly table: string;
  readonly lock: Exclude<EffectLock, 'none'>;
}

/** A statement and the table it affects. */
export interface PlannedStep {
  readonly effect: StatementEffect;
  /** Undefined: no table, or a new one. */
  readonly table: TouchedTable | undefined;
  readonly seconds: number;
  /** Whether it is skipped because the table is too large for a migration: `chainstead indexes` does it later. */
  readonly isLeftOut: boolean;
}

/**
 * Plans all pending migrations of a database.
 * @param folder @default MIGRATIONS_FOLDER
 * @throws {DatabaseError} SCHEMA_NEWER, MIGRATION_CHANGED
 */
export async function planMigrations(
  database: Pick<Database, 'query'>,
  folder: string = MIGRATIONS_FOLDER,
): Promise<MigrationsPlan> {
  const migrations = await readMigrations(folder);
  const pending = await pendingMigrations(database, migrations);
  const tables = await readUpgradedTables(database);
  return {
    applied: migrations.length - pending.length,
    pending: pending.map((migration) => planMigration(migration, tables)),
  };
}

function planMigration({ name, text }: Migration, tables: UpgradedTables): PlannedMigration {
  const effects = effectsOf(text);
  const steps = effects.map((effect) => {
    const step = planStep(effect, tables);
    tables.apply(effect);
    return step;
  });
  const done = steps.filter(({ isLeftOut }) => !isLeftOut);
  return {
    name,
    summary: summariseMigration(text, effects),
    seconds: steps.reduce((sum, { seconds }) => sum + seconds, 0),
    bytes: done.reduce((sum, { effect, table }) => sum + bytesOf(effect, table), 0),
    locks: locksOf(done),
    steps,
  };
}

function planStep(effect: StatementEffect, tables: UpgradedTables): PlannedStep {
  const { kind, object, onlyBelow } = effect;
  const name = kind === 'drop-index' ? tables.tableOf(object ?? '') : object;
  const table = tables.get(name ?? '');
  const bounding = onlyBelow === undefined ? undefined : tables.get(onlyBelow.table);
  const isLeftOut = onlyBelow !== undefined && (bounding?.heapBytes ?? 0) >= onlyBelow.bytes;
  return { effect, table, isLeftOut, seconds: isLeftOut ? 0 : secondsOf(effect, table) };
}

function locksOf(steps: readonly PlannedStep[]): PlannedLock[] {
  const locks = new Map<string, PlannedLock['lock']>();
  for (const { effect, table } of steps) {
    if (table === undefined || effect.lock === 'none' || locks.get(table.name) === 'all') continue;
    locks.set(table.name, effect.lock);
  }
  return [...locks].map(([table, lock]) => ({ table, lock }));
}

/**
 * Measured rates of table work on two cores with an SSD, with the embedded Postgres and its settings: tables of
 * 1,000,000 transfers in memory. Tables larger than memory take longer, better machines less.
 */
const UPGRADE_RATES = {
  /** Rows per second of an ordinary index. */
  indexRows: 420_000,
  /** Rows per second of an index that keeps ranges from overlapping. */
  rangeIndexRows: 11_000,
  /** Bytes per second of a table scan. */
  scanBytes: 880_000_000,
  /** Bytes per second of a table rewrite, tables and indexes together. */
  rewriteBytes: 46_000_000,
  /** Rows per second changed or deleted in place. */
  changedRows: 34_000,
  /** Seconds of any other statement: a catalog write and a file flush. */
  statementSeconds: 0.004,
} as const;

/**
 * Returns the approximate duration of a statement in seconds. @param table size of the affected table at that time;
 * undefined: none exists yet
 */
function secondsOf(effect: StatementEffect, table: TouchedTable | undefined): number {
  const { statementSeconds } = UPGRADE_RATES;
  return statementSeconds + (table === undefined ? 0 : workSeconds(effect, table));
}

function workSeconds({ kind, index }: StatementEffect, { rows, heapBytes, totalBytes }: TouchedTable): number {
  switch (kind) {
    case 'build-index':
      if (index?.method === 'brin') return heapBytes / UPGRADE_RATES.scanBytes;
      return rows / (index?.method === 'gist' ? UPGRADE_RATES.rangeIndexRows : UPGRADE_RATES.indexRows);
    case 'scan':
      return heapBytes / UPGRADE_RATES.scanBytes;
    case 'rewrite':
      return totalBytes / UPGRADE_RATES.rewriteBytes;
    case 'change-rows':
      return rows / UPGRADE_RATES.changedRows;
    default:
      return 0;
  }
}

/** An index entry, with its share of the upper pages. */
const INDEX_BYTES_PER_ROW = 40;

/** Returns the approximate extra disk space of a statement in bytes. */
function bytesOf({ kind, index }: StatementEffect, table: TouchedTable | undefined): number {
  if (table === undefined) return 0;
  if (kind === 'rewrite') return table.totalBytes;
  return kind === 'build-index' && index?.method !== 'brin' ? table.rows * INDEX_BYTES_PER_ROW : 0;
}
