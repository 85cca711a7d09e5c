import { describe, expect, it } from 'vitest';
import { MIGRATIONS_FOLDER, readMigrations } from '../migrations/schema-state.ts';
import { summariseMigration } from './plan-migrations.ts';
import { effectsOf } from './statement-effects.ts';

describe('the effect of a statement', () => {
  it.each([
    ['CREATE TABLE "t" ("x" int)', [{ kind: 'create-table', object: 't', lock: 'none' }]],
    ['CREATE UNLOGGED TABLE t (x int)', [{ kind: 'create-table', object: 't', lock: 'none' }]],
    [
      'CREATE UNIQUE INDEX "i" ON "t" USING brin ("x")',
      [{ kind: 'build-index', object: 't', lock: 'writes', index: { name: 'i', method: 'brin' } }],
    ],
    [
      'CREATE INDEX i ON public.t (x)',
      [{ kind: 'build-index', object: 't', lock: 'writes', index: { name: 'i', method: 'btree' } }],
    ],
    ['DROP VIEW analytics.t', [{ kind: 'drop-view', object: 'analytics.t', lock: 'all' }]],
    ['DROP INDEX "i"', [{ kind: 'drop-index', object: 'i', lock: 'all' }]],
    ['ALTER TABLE "t" RENAME TO "u"', [{ kind: 'rename', object: 't', lock: 'all', renamedTo: 'u' }]],
    ['ALTER TABLE "t" ADD COLUMN "x" text', [{ kind: 'add-column', object: 't', lock: 'all' }]],
    [
      `ALTER TABLE "t" ADD COLUMN "x" text[] DEFAULT '{"a","b"}' NOT NULL`,
      [{ kind: 'add-column', object: 't', lock: 'all' }],
    ],
    [
      'ALTER TABLE "t" ADD COLUMN "x" int NOT NULL',
      [{ kind: 'add-column', object: 't', lock: 'all', needsEmpty: true }],
    ],
    [
      'ALTER TABLE "t" ADD COLUMN "x" boolean GENERATED ALWAYS AS (CASE WHEN a IS NULL THEN b > 0 ELSE true END) STORED NOT NULL',
      [{ kind: 'rewrite', object: 't', lock: 'all' }],
    ],
    [
      'ALTER TABLE "t" ADD COLUMN "x" uuid DEFAULT gen_random_uuid()',
      [{ kind: 'rewrite', object: 't', lock: 'all' }],
    ],
    ['ALTER TABLE t ALTER COLUMN x SET DATA TYPE bigint', [{ kind: 'rewrite', object: 't', lock: 'all' }]],
    ['ALTER TABLE t ALTER COLUMN x SET NOT NULL', [{ kind: 'scan', object: 't', lock: 'all' }]],
    [
      'ALTER TABLE "t" SET (autovacuum_vacuum_scale_factor = 0.05, fillfactor = 90)',
      [{ kind: 'catalog', object: 't', lock: 'none' }],
    ],
    ['ALTER TABLE t ADD CONSTRAINT c CHECK (x <= y)', [{ kind: 'scan', object: 't', lock: 'all' }]],
    [
      "ALTER TABLE t ADD CONSTRAINT c EXCLUDE USING gist (x WITH =, int8range(a, b, '[]') WITH &&)",
      [{ kind: 'build-index', object: 't', lock: 'all', index: { name: 'c', method: 'gist' } }],
    ],
    [
      'ALTER TABLE t ADD COLUMN a int, ADD COLUMN b numeric(78, 0) NOT NULL',
      [
        { kind: 'add-column', object: 't', lock: 'all' },
        { kind: 'add-column', object: 't', lock: 'all', needsEmpty: true },
      ],
    ],
    ['UPDATE "t" SET x = 1', [{ kind: 'change-rows', object: 't', lock: 'none' }]],
    ['DELETE FROM t WHERE x = 1', [{ kind: 'change-rows', object: 't', lock: 'none' }]],
    [`INSERT INTO "t" ("x") VALUES ('a')`, [{ kind: 'catalog', object: 't', lock: 'none' }]],
    ['CREATE OR REPLACE VIEW v AS SELECT 1', [{ kind: 'catalog', object: null, lock: 'none' }]],
    ['VACUUM FULL t', [{ kind: 'unknown', object: null, lock: 'none' }]],
  ])('%s', (statement, effects) => {
    expect(effectsOf(statement)).toEqual(effects);
  });

  it('of a block of code is what it may do, below the size that it asks for', () => {
    const block = `DO $$
BEGIN
  IF (SELECT coalesce(sum(pg_relation_size(inhrelid)), 0) FROM pg_inherits WHERE inhparent = 't'::regclass) < 1073741824 THEN
    CREATE INDEX "i" ON "t" USING btree (f("x"), "y");
  END IF;
END
$$`;
    expect(effectsOf(block)).toEqual([
      {
        ...{ kind: 'build-index', object: 't', lock: 'writes', index: { name: 'i', method: 'btree' } },
        ...{ isConditional: true, onlyBelow: { table: 't', bytes: 1_073_741_824 } },
      },
    ]);
    expect(effectsOf(`DO $$ BEGIN GRANT SELECT ON v TO r; END $$`)).toEqual([
      { kind: 'catalog', object: null, lock: 'none' },
    ]);
  });
});

describe('every migration', async () => {
  const migrations = await readMigrations(MIGRATIONS_FOLDER);

  it.each(migrations)('$name is understood, and told in a line', ({ text }) => {
    const effects = effectsOf(text);
    expect(effects.filter(({ kind }) => kind === 'unknown')).toEqual([]);
    const summary = summariseMigration(text, effects);
    expect(summary).toMatch(/^[A-Z].{8,}\.$/);
    expect(summary).not.toContain('\n');
  });
});

describe('a summary', () => {
  it('is the first sentence of the comment that a migration begins with', () => {
    expect(summariseMigration('-- Splits the table,\n-- by ranges. Quick.\nSELECT 1;', [])).toBe(
      'Splits the table, by ranges.',
    );
  });

  it('else lists what is made, changed and dropped', () => {
    const text = ['a', 'b', 'c', 'd', 'e'].map((name) => `CREATE TABLE ${name} (x int);`).join('\n');
    const more = `${text} ALTER TABLE tokens ADD COLUMN y int; ALTER TABLE tokens ADD COLUMN z int; DROP INDEX old;`;
    expect(summariseMigration(more, effectsOf(more))).toBe(
      'Makes a, b, c, d and 1 more; adds columns to tokens; drops the index old.',
    );
  });
});
