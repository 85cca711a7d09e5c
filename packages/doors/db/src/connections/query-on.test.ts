import { silentLogger } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../open-database.ts';
import { sql } from '../sql.ts';

const scratch = scratchOfFile();

const NAMES = sql`SELECT 1 AS block_number, 2 AS "logIndex", 3 AS sqrt_price_x96, 4 AS hash, 5 AS due_key_0, 6 AS "QUERY PLAN"`;
const ROW = { blockNumber: 1, logIndex: 2, sqrtPriceX96: 3, hash: 4, dueKey0: 5, 'QUERY PLAN': 6 };

describe('rows have names in camelCase', () => {
  test('of statements with and without values, in transactions and outside', async () => {
    const { database } = scratch;
    expect(await database.query(NAMES)).toEqual([ROW]);
    expect(await database.select(NAMES)).toEqual([ROW]);
    expect(await database.query(sql`SELECT ${'a'}::text AS of_value`)).toEqual([{ ofValue: 'a' }]);
    expect(await database.transaction((transaction) => transaction.query(NAMES))).toEqual([ROW]);
  });

  test('whenever a prepared statement is executed', async () => {
    const options = { url: scratch.url, applicationName: 'prepared', prepared: true, poolSize: 1 };
    const database = openDatabase({ ...options, logger: silentLogger() });
    onTestFinished(() => database.close());
    for (let time = 0; time < 3; time += 1) expect(await database.select(NAMES)).toEqual([ROW]);
  });

  test('of columns alone: those inside JSON stay', async () => {
    const nested = sql`SELECT json_build_object('block_number', 1) AS of_block`;
    expect(await scratch.database.query(nested)).toEqual([{ ofBlock: { block_number: 1 } }]);
  });

  test('but not of statements that a connection runs itself', async () => {
    const { rows } = await scratch.database.pool.query('SELECT 1 AS block_number');
    expect(rows).toEqual([{ block_number: 1 }]);
  });
});

test('the stack of a failed statement leads to its caller', async () => {
  const failing = async function callerOfStatement() {
    await scratch.database.query(sql`SELECT ${1}::int / 0`);
  };
  await expect(failing()).rejects.toMatchObject({ stack: expect.stringContaining('callerOfStatement') });
});
