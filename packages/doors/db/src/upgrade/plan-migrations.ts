import type { Database } from '../database.ts';
import {
  MIGRATIONS_FOLDER,
  type Migration,
  pendingMigrations,
  readMigrations,
} from '../migrations/schema-state.ts';
import { sql } from '../sql.ts';
import { type EffectLock, effectsOf, type StatementEffect } from './statement-effects.ts';

/** Predicted from texts and table sizes. Read-only. */

export interface MigrationsPlan {
  readonly applied: number;
  readonly pending: readonly PlannedMigration[];
}

export interface PlannedMigration {
  readonly name: string;
  readonly summary: string;
  readonly seconds: number;
  readonly bytes: number;
  readonly locks: readonly PlannedLock[];
  readonly steps: readonly PlannedStep[];
}

interface PlannedLock {
  readonly table: string;
  readonly lock: Exclude<EffectLock, 'none'>;
}

export interface PlannedStep {
  readonly effect: StatementEffect;
  /** Undefined: no table, or a new one. */
  readonly table: TouchedTable | undefined;
  readonly seconds: number;
  /** Too large for a migration: `chainstead indexes` does it. */
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

/** Measured on two cores and SSD, embedded Postgres, 1,000,000 transfers. Per second. */
const UPGRADE_RATES = {
  indexRows: 420_000,
  /** An index that keeps ranges from overlapping. */
  rangeIndexRows: 11_000,
  scanBytes: 880_000_000,
  /** Tables and indexes together. */
  rewriteBytes: 46_000_000,
  /** Changed or deleted in place. */
  changedRows: 34_000,
  /** Seconds: a catalog write and a flush. */
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

const INDEX_BYTES_PER_ROW = 40;

function bytesOf({ kind, index }: StatementEffect, table: TouchedTable | undefined): number {
  if (table === undefined) return 0;
  if (kind === 'rewrite') return table.totalBytes;
  return kind === 'build-index' && index?.method !== 'brin' ? table.rows * INDEX_BYTES_PER_ROW : 0;
}

interface TouchedTable {
  readonly name: string;
  readonly rows: number;
  readonly heapBytes: number;
  readonly totalBytes: number;
  readonly isOwned: boolean;
}

/** At each migration: an earlier one may have created, renamed or dropped some. */
interface UpgradedTables {
  /** By current name; undefined: missing, or new and empty. */
  get(name: string): TouchedTable | undefined;
  tableOf(index: string): string | undefined;
  apply(effect: StatementEffect): void;
}

async function readUpgradedTables(database: Pick<Database, 'query'>): Promise<UpgradedTables> {
  const touched = await database.query<TouchedTable>(TABLES);
  const tables = new Map<string, TouchedTable>(touched.map((table) => [table.name, table]));
  const indexed = await database.query<{ index: string; table: string }>(
    sql`SELECT indexname AS index, tablename AS table FROM pg_indexes WHERE schemaname = current_schema()`,
  );
  const indexes = new Map(indexed.map(({ index, table }) => [index, table]));
  return {
    get: (name) => tables.get(name),
    tableOf: (index) => indexes.get(index),
    apply({ kind, object, renamedTo, index }) {
      const name = object ?? '';
      const table = tables.get(name);
      if (kind === 'create-table' || kind === 'drop-table') tables.delete(name);
      if (kind === 'build-index' && index !== undefined) indexes.set(index.name, name);
      if (kind !== 'rename' || renamedTo === undefined) return;
      tables.delete(name);
      if (table !== undefined) tables.set(renamedTo, table);
      for (const [own, of] of indexes) if (of === name) indexes.set(own, renamedTo);
    },
  };
}

/** Tables without statistics count a hundred rows per page. */
const TABLES = sql`
  SELECT own.relname AS name, pg_has_role(own.relowner, 'USAGE') AS "isOwned",
         coalesce(sum(CASE WHEN part.reltuples >= 0 THEN part.reltuples
                           ELSE pg_relation_size(part.oid) / current_setting('block_size')::int * 100 END), 0)::float8 AS rows,
         coalesce(sum(pg_relation_size(part.oid)), 0)::float8 AS "heapBytes",
         coalesce(sum(pg_total_relation_size(part.oid)), 0)::float8 AS "totalBytes"
    FROM pg_class AS own
      LEFT JOIN LATERAL (SELECT relid FROM pg_partition_tree(own.oid) WHERE isleaf UNION SELECT own.oid WHERE own.relkind = 'r') AS tree ON true
      LEFT JOIN pg_class AS part ON part.oid = tree.relid AND part.relkind = 'r'
   WHERE own.relkind IN ('r', 'p') AND NOT own.relispartition AND own.relnamespace = current_schema()::regnamespace
   GROUP BY own.oid, own.relname, own.relowner`;

/** The leading comment, or the objects that it creates, adds and drops. */
export function summariseMigration(text: string, effects: readonly StatementEffect[]): string {
  const [comment = ''] = /^(?:--(?!>)[^\n]*\n?)+/.exec(text) ?? [];
  const line = comment
    .replaceAll(/^--\s*/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const sentence = /^.*?\.(?=\s|$)/.exec(line)?.[0];
  if (sentence !== undefined) return sentence;
  const parts = Object.entries(VERBS).flatMap(([kind, verb]) => {
    const ofKind = effects.filter((effect) => effect.kind === kind);
    const names = [...new Set(ofKind.map(({ object, index }) => index?.name ?? object ?? ''))];
    const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : '';
    return names.length === 0 ? [] : [`${verb} ${names.slice(0, NAMES_MAX).join(', ')}${more}`];
  });
  const summary = parts.length === 0 ? 'changes definitions alone' : parts.join('; ');
  return `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
}
const VERBS: Readonly<Partial<Record<StatementEffect['kind'], string>>> = {
  'create-table': 'makes',
  rename: 'renames',
  rewrite: 'rewrites',
  'add-column': 'adds columns to',
  'change-rows': 'changes rows of',
  'build-index': 'builds',
  'drop-table': 'drops',
  'drop-view': 'drops the view',
  'drop-index': 'drops the index',
};
const NAMES_MAX = 4;
