import { bigint, integer, pgTable } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { joinSql, rawSql, sql, statementOf } from './sql.ts';
import { columnList, columnsAs, deleteByKey } from './tables/typed-columns.ts';

const table = pgTable('sums', {
  chainId: bigint('chain_id', { mode: 'number' }),
  blockNumber: integer('block_number'),
});

test('values are numbered in the order of the text, also those of pieces', () => {
  const one = sql`a = ${1} AND b = ${'x'}`;
  const both = joinSql([one, sql`c = ${null}`], ' OR ');
  expect(statementOf(sql`SELECT ${rawSql('z')} FROM t WHERE ${both} LIMIT ${5}`)).toEqual({
    text: 'SELECT z FROM t WHERE a = $1 AND b = $2 OR c = $3 LIMIT $4',
    values: [1, 'x', null, 5],
  });
  expect(statementOf(joinSql([]))).toEqual({ text: '', values: [] });
});

test('a fragment that a statement contains twice keeps its placeholders', () => {
  const wallet = sql`${'w'}::bytea`;
  const isOf = sql`account = ${wallet} AND chain_id = ${1}`;
  const known = sql`EXISTS (SELECT FROM known WHERE ${wallet} = address)`;
  const statement = sql`SELECT ${wallet}, ${1} FROM t WHERE ${isOf} AND ${known} OR NOT (${isOf} AND ${known})`;
  const text = 'account = $1::bytea AND chain_id = $3 AND EXISTS (SELECT FROM known WHERE $1::bytea = address)';
  expect(statementOf(statement)).toEqual({
    text: `SELECT $1::bytea, $2 FROM t WHERE ${text} OR NOT (${text})`,
    values: ['w', 1, 1],
  });
  // Another statement numbers the same fragments.
  expect(statementOf(sql`SELECT ${true} WHERE ${known}`)).toEqual({
    text: 'SELECT $1 WHERE EXISTS (SELECT FROM known WHERE $2::bytea = address)',
    values: [true, 'w'],
  });
});

test('a text is a value, whatever it contains', () => {
  expect(statementOf(sql`SELECT ${"'; DROP TABLE t; --"}`)).toEqual({
    text: 'SELECT $1',
    values: ["'; DROP TABLE t; --"],
  });
});

test('columns of a table are named as in the database', () => {
  expect(statementOf(sql`${columnsAs(table, 'moved').blockNumber}`).text).toBe('moved.block_number');
  expect(statementOf(columnList(table, ['chainId', 'blockNumber'])).text).toBe('chain_id, block_number');
  expect(statementOf(columnList(table, ['blockNumber'], 'excluded')).text).toBe('excluded.block_number');
});

test('rows are deleted by key, under a condition', () => {
  const keys = sql`SELECT chain_id FROM gone WHERE block_number > ${7}`;
  expect(statementOf(deleteByKey(table, ['chainId'], keys, sql`stored.block_number = ${8}`))).toEqual({
    text: `WITH touched AS MATERIALIZED (SELECT chain_id FROM gone WHERE block_number > $1)
DELETE FROM sums AS stored USING touched WHERE stored.chain_id = touched.chain_id AND (stored.block_number = $2)`,
    values: [7, 8],
  });
});
