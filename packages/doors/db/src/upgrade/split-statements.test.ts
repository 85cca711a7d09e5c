import { expect, test } from 'vitest';
import { splitStatements } from './statement-effects.ts';

test('statements end at semicolons, except in quotes, names, comments and bodies between dollars', () => {
  const text = `-- A comment; with a semicolon.
CREATE TABLE "a;b" (
  "x" text DEFAULT ';'/* ; */
);--> statement-breakpoint
DO $$ BEGIN UPDATE a SET x = 'it''s;'; END $$;
CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $body$ SELECT 1; SELECT '$$'; $body$;
SELECT 1 - 2, 4 / 2`;
  expect(splitStatements(text)).toEqual([
    `CREATE TABLE "a;b" ( "x" text DEFAULT ';' )`,
    `DO $$ BEGIN UPDATE a SET x = 'it''s;'; END $$`,
    `CREATE FUNCTION f() RETURNS void LANGUAGE sql AS $body$ SELECT 1; SELECT '$$'; $body$`,
    'SELECT 1 - 2, 4 / 2',
  ]);
});
