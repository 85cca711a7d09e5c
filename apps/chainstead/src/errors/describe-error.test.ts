import { readFile } from 'node:fs/promises';
import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { describeError } from './describe-error.ts';

const scratch = scratchOfFile();

const textOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'no error', describeError);

test('an error of Postgres or the operating system is a message with a remedy, without a stack', async () => {
  expect(await textOf(scratch.database.query(sql`SELECT FROM no_such_table`))).toBe(
    'Postgres refused a statement: relation "no_such_table" does not exist. The database has not been prepared. Run "chainstead migrate" [42P01]',
  );
  expect(await textOf(readFile('/no/such/file'))).toBe(
    "ENOENT: no such file or directory, open '/no/such/file'. Check the path [ENOENT]",
  );
});

test('a fault of the program has its stack', () => {
  expect(describeError(new TypeError('wrong'))).toContain('describe-error.test.ts');
});
