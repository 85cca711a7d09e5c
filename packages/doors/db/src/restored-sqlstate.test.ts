import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { withSqlstate } from './database-outage.ts';

function postgresError(message: string, code: string): DatabaseError {
  return Object.assign(new DatabaseError(message, message.length, 'error'), { code });
}

test.each([
  ['duplicate key value violates unique constraint "blocks_pkey_102008"', '23505'],
  ['no partition of relation "erc20_transfer_sides_102052" found for row', '23514'],
  ['deadlock detected', '40P01'],
  ['failure on connection marked as essential: 127.0.0.1:5433', '08006'],
])('what a node says of a COPY has its code again: %s', (message, code) => {
  expect(withSqlstate(postgresError(message, 'XX000'))).toMatchObject({ message, code });
});

test('other errors stay as they are', () => {
  for (const [message, code] of [
    ['could not open file', 'XX000'],
    ['duplicate key value violates unique constraint "a"', '42P10'],
  ] as const)
    expect(withSqlstate(postgresError(message, code))).toMatchObject({ message, code });
  const other = new Error('deadlock detected');
  expect(withSqlstate(other)).toBe(other);
});
