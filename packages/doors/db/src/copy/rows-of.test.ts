import { scratchOfFile } from '@chainstead/testkit/hooks';
import { boolean, integer, numeric, smallint, text } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { address, blockTime, hash, hexadecimal, int8Text, logPlace, uint256 } from '../columns/column-types.ts';
import { sql } from '../sql.ts';
import { LOCAL, storedTable } from '../tables/table-storage.ts';
import { int4, type RowOf, readPackedPage } from './packed-rows.ts';
import { rowsOf } from './rows-of.ts';

const moves = storedTable(
  'moves',
  {
    accountKey: int8Text('account_key').notNull(),
    ...logPlace(),
    kind: smallint('kind').$type<0 | 1>().notNull(),
    status: integer('status'),
    isOpen: boolean('is_open').notNull(),
    minedAt: blockTime('mined_at').notNull(),
    account: address('account').notNull(),
    operator: address('operator'),
    transactionHash: hash('transaction_hash').notNull(),
    data: hexadecimal('data').notNull(),
    input: hexadecimal('input'),
    value: uint256('value').notNull(),
    price: numeric('price'),
    name: text('name'),
  },
  { writes: 'append', placement: LOCAL, key: ['accountKey', 'logIndex'] },
);
const ROWS = rowsOf(moves, ['chain_id', 'status'], { status: int4('coalesce(status, -1)') });
const scratch = scratchOfFile();

test('rows have the columns of the table as they are declared', async () => {
  const values = sql`SELECT -5::bigint AS account_key, 7 AS block_number, 1 AS transaction_index, 2 AS log_index, 1::smallint AS kind,
    NULL::int AS status, true AS is_open, '2026-01-02T03:04:05Z'::timestamptz AS mined_at, ${Buffer.alloc(20, 1)}::bytea AS account,
    NULL::bytea AS operator, ${Buffer.alloc(32, 2)}::bytea AS transaction_hash, '\\x0a0b'::bytea AS data, NULL::bytea AS input,
    2::numeric(78,0) ^ 200 AS value, NULL::numeric AS price, 'x' AS name`;
  const { rows } = await readPackedPage(
    scratch.database,
    ROWS,
    (select) => sql`WITH page AS MATERIALIZED (${values}) SELECT ${select} FROM ${ROWS.fitting('page')}`,
  );
  const expected: RowOf<typeof ROWS> = {
    ...{
      account_key: '-5',
      block_number: 7,
      transaction_index: 1,
      log_index: 2,
      kind: 1,
      status: -1,
      is_open: true,
    },
    ...{ mined_at: '2026-01-02T03:04:05.000Z', account: expect.stringMatching(/^0x(01){20}$/), operator: null },
    ...{ transaction_hash: expect.stringMatching(/^0x(02){32}$/), data: '0x0a0b', input: null },
    ...{ value: (2n ** 200n).toString(), price: null, name: 'x' },
  };
  expect(rows).toEqual([expected]);
});

test('a column without a packed form needs a reader', () => {
  expect(() => rowsOf(moves, [])).toThrow('Column status has no packed form');
});
