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
  readonly summary: string;
  /** Approximate duration, during which its tables are locked. */
  readonly seconds: number;
  /** Approximate disk space. */
  readonly bytes: number;
  readonly locks: readonly PlannedLock[];
  readonly steps: readonly PlannedStep[];
}

/** A table with rows that is locked against others. */
export interface PlannedLock {
  readonly table: string;
  readonly lock: Exclude<EffectLock, 'none'>;
}

export interface PlannedStep {
  readonly effect: StatementEffect;
  /** Undefined: no table, or a new one. */
  readonly table: TouchedTable | undefined;
  readonly seconds: number;
  /** Skipped because the table is too large for a migration: `chainstead indexes` does it later. */
  readonly isLeftOut: boolean;
}

/** @throws {DatabaseError} SCHEMA_NEWER, MIGRATION_CHANGED */
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
  const seconds = UPGRADE_RATES.statementSeconds + (table === undefined ? 0 : workSeconds(effect, table));
  return { effect, table, isLeftOut, seconds: isLeftOut ? 0 : seconds };
}

function locksOf(steps: readonly PlannedStep[]): PlannedLock[] {
  const locks = new Map<string, PlannedLock['lock']>();
  for (const { effect, table } of steps) {
    if (table === undefined || effect.lock === 'none' || locks.get(table.name) === 'all') continue;
    locks.set(table.name, effect.lock);
  }
  return [...locks].map(([table, lock]) => ({ table, lock }));
}

/** Measured on two cores with an SSD, with the embedded Postgres: tables of 1,000,000 transfers in memory. */
const UPGRADE_RATES = {
  /** Rows per second of an ordinary index. */
  indexRows: 420_000,
  /** Rows per second of an index that keeps ranges from overlapping. */
  rangeIndexRows: 11_000,
  /** Per second. */
  scanBytes: 880_000_000,
  /** Per second, tables and indexes together. */
  rewriteBytes: 46_000_000,
  /** Rows per second changed or deleted in place. */
  changedRows: 34_000,
  /** For any other statement: a catalog write and a file flush. */
  statementSeconds: 0.004,
} as const;

function workSeconds({ kind, index }: StatementEffect, { rows, heapBytes, totalBytes }: TouchedTable): number {
  const isScan = kind === 'scan' || (kind === 'build-index' && index?.method === 'brin');
  if (isScan) return heapBytes / UPGRADE_RATES.scanBytes;
  if (kind === 'build-index')
    return rows / (index?.method === 'gist' ? UPGRADE_RATES.rangeIndexRows : UPGRADE_RATES.indexRows);
  if (kind === 'rewrite') return totalBytes / UPGRADE_RATES.rewriteBytes;
  return kind === 'change-rows' ? rows / UPGRADE_RATES.changedRows : 0;
}

/** With its share of the upper pages. */
const INDEX_BYTES_PER_ROW = 40;

/** Approximate extra disk space of a statement. */
function bytesOf({ kind, index }: StatementEffect, table: TouchedTable | undefined): number {
  if (table === undefined) return 0;
  if (kind === 'rewrite') return table.totalBytes;
  return kind === 'build-index' && index?.method !== 'brin' ? table.rows * INDEX_BYTES_PER_ROW : 0;
}
