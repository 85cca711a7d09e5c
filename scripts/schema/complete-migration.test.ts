import { type DeclaredTable, distributedBy, LOCAL } from '@chainstead/db/table-storage';
import { describe, expect, test } from 'vitest';
import { completeStatements, joinStatements, statementsOf, statementsOfTables } from './complete-migration.ts';
import { replaceGenerated } from './replace-generated.ts';

const MOVES: DeclaredTable = {
  name: 'moves',
  storage: { writes: 'append', placement: distributedBy('account', 'account_key'), isPartitioned: true },
};
const SUMS: DeclaredTable = { name: 'sums', storage: { writes: 'counter', placement: LOCAL } };

const SQL = `CREATE TABLE "moves" (
	"account" "bytea" NOT NULL,
	"value" numeric(78, 0) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "others" (
	"name" text
);
--> statement-breakpoint
CREATE TABLE "sums" (
	"total" bigint
);
--> statement-breakpoint
CREATE INDEX "moves_by_block" ON "moves" USING brin ("value");`;

const MOVES_MADE = `CREATE TABLE "moves" (
  "account" bytea NOT NULL,
  "value" numeric(78,0) NOT NULL
) PARTITION BY RANGE ("chain_id", "block_number");`;
const OTHERS_MADE = 'CREATE TABLE "others" (\n  "name" text\n);';
const SUMS_MADE = 'CREATE TABLE "sums" (\n  "total" bigint\n);';
const INDEX_MADE = 'CREATE INDEX "moves_by_block" ON "moves" USING brin ("value");';
const SUMS_STORED =
  'ALTER TABLE "sums" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);';

describe('what drizzle-kit wrote', () => {
  test('is completed with partitioning and storage parameters', () => {
    expect(completeStatements(statementsOf(SQL), [MOVES, SUMS])).toEqual([
      ...[MOVES_MADE, OTHERS_MADE, SUMS_MADE, INDEX_MADE],
      SUMS_STORED,
    ]);
  });

  test('is sorted by table, without tables of undeclared storage', () => {
    expect(statementsOfTables(statementsOf(SQL), [MOVES, SUMS])).toEqual([
      ...[MOVES_MADE, INDEX_MADE],
      ...[SUMS_MADE, SUMS_STORED],
    ]);
  });
});

test('statements end with a semicolon and a breakpoint', () => {
  expect(joinStatements(['SELECT 1', 'SELECT 2;'])).toBe(
    'SELECT 1;--> statement-breakpoint\nSELECT 2;--> statement-breakpoint\n',
  );
});

describe('a generated part', () => {
  const text = 'a\n-- Generated: tables\nold\n-- End of generated: tables\nb\n';

  test('is replaced between its two lines', () => {
    const renewed = replaceGenerated(text, 'sql', 'tables', 'new\n');
    expect(renewed).toBe('a\n-- Generated: tables\nnew\n-- End of generated: tables\nb\n');
    expect(replaceGenerated(renewed, 'sql', 'tables', 'new\n')).toBe(renewed);
  });

  test('without its lines is refused by name', () => {
    expect(() => replaceGenerated(text, 'sql', 'views', '')).toThrow('no lines "-- Generated: views"');
  });
});
