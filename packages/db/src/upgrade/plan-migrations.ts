/** What migrating a database would do, told by what its migrations say and how large its tables are. Reads only. */
import type { Database } from '../database.ts';
import { MIGRATIONS_FOLDER } from '../migrate.ts';
import { type Migration, readMigrations } from '../read-migrations.ts';
import { pendingMigrations } from '../schema-state.ts';
import { summariseMigration } from './migration-summary.ts';
import { type EffectLock, effectsOf, type StatementEffect } from './statement-effects.ts';
import { readUpgradedTables, type TouchedTable, type UpgradedTables } from './touched-tables.ts';
import { bytesOf, secondsOf } from './upgrade-rates.ts';

export interface MigrationsPlan {
  /** How many the database has. */
  readonly applied: number;
  readonly pending: readonly PlannedMigration[];
}

export interface PlannedMigration {
  readonly name: string;
  /** What it does, in a line. */
  readonly summary: string;
  /** How long it takes, about. Its tables are locked for as long. */
  readonly seconds: number;
  /** Disk that it needs, about. */
  readonly bytes: number;
  readonly locks: readonly PlannedLock[];
  readonly steps: readonly PlannedStep[];
}

/** A table with something in it that others have to wait for. */
export interface PlannedLock {
  readonly table: string;
  readonly lock: Exclude<EffectLock, 'none'>;
}

/** A statement, and the table that it meets. */
export interface PlannedStep {
  readonly effect: StatementEffect;
  /** Undefined: it has none, or a new one. */
  readonly table: TouchedTable | undefined;
  readonly seconds: number;
  /** Left out, since the table is too large for a migration: `chainstead indexes` does it. */
  readonly isLeftOut: boolean;
}

/**
 * Plans all migrations that a database lacks.
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
