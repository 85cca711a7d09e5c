import type { Address, Hash } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { address, blockTime, hash, uint256 } from '@chainstead/db/column-types';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { sql as drizzleSql } from 'drizzle-orm';
import { bigint, boolean, index, jsonb, numeric, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { defineTable } from './row-table.ts';

const things = pgTable(
  'things',
  {
    owner: address('owner').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    kind: smallint('kind').notNull(),
    amount: uint256('amount').notNull(),
    amounts: numeric('amounts', { precision: 78, scale: 0 }).array().notNull(),
    isLast: boolean('is_last').notNull(),
    note: text('note'),
    other: address('other'),
    price: numeric('price'),
    blockHash: hash('block_hash').notNull(),
    blockTimestamp: blockTime('block_timestamp').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.owner, table.chainId, table.blockNumber] }),
    index('things_by_kind').on(table.kind, table.owner),
    index('things_last').on(table.owner).where(drizzleSql`is_last`),
    index('things_of_kind').on(table.owner).where(drizzleSql`kind = ${7}`),
    index('things_descending').on(table.kind.desc()),
  ],
);
const MAX = (2n ** 256n - 1n).toString();
const full: Readonly<typeof things.$inferSelect> = {
  owner: `0x${'ab'.repeat(20)}` as Address,
  chainId: 1,
  blockNumber: 7,
  kind: 2,
  amount: MAX,
  amounts: ['5', MAX],
  isLast: true,
  note: 'tab\t, backslash \\, line\nend',
  other: `0x${'cd'.repeat(20)}` as Address,
  price: '12',
  blockHash: `0x${'ef'.repeat(32)}` as Hash,
  blockTimestamp: '2024-01-02T03:04:05Z',
};

const scratch = scratchOfFile();

beforeAll(async () => {
  await scratch.database.query(sql`CREATE TABLE things (owner bytea, chain_id bigint, block_number bigint, kind smallint, amount numeric(78,0),
    amounts numeric(78,0)[], is_last boolean, note text, other bytea, price numeric, block_hash bytea, block_timestamp timestamptz)`);
});

async function stored(row: typeof full): Promise<Record<string, unknown> | undefined> {
  const { name, columns, copyLine } = defineTable(things);
  await scratch.database.query(sql`TRUNCATE things`);
  await scratch.database.transaction((transaction) => transaction.copy(name, columns, [copyLine(row)]));
  const [text] = await scratch.database.query<{ row: Record<string, unknown> }>(
    sql`SELECT jsonb_build_object('owner', '0x' || encode(owner, 'hex'), 'chainId', chain_id, 'blockNumber', block_number, 'kind', kind,
       'amount', amount::text, 'amounts', amounts::text[], 'isLast', is_last, 'note', note, 'other', '0x' || encode(other, 'hex'),
       'price', price::text, 'blockHash', '0x' || encode(block_hash, 'hex'),
       'blockTimestamp', to_char(block_timestamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) AS row FROM things`,
  );
  return text?.row;
}

describe('a defined table', () => {
  test('stores what its rows hold, of every type, and null where a column allows it', async () => {
    expect(await stored(full)).toEqual(full);
    const sparse = { ...full, amounts: [], isLast: false, note: null, other: null, price: null };
    expect(await stored(sparse)).toEqual(sparse);
  });

  test('has its columns in the order of the schema, and its key', () => {
    const { name, columns, key } = defineTable(things);
    expect({ name, columns: columns.slice(0, 4), key }).toEqual({
      name: 'things',
      columns: ['owner', 'chain_id', 'block_number', 'kind'],
      key: ['owner', 'chain_id', 'block_number'],
    });
  });

  test('gives the definition of an index that bulk loads leave out, and refuses those that it would build otherwise', () => {
    expect(defineTable(things, { bulkIndexes: ['things_by_kind'] }).bulkIndexes).toEqual([
      { name: 'things_by_kind', table: 'things', isPartitioned: false, definition: 'USING btree (kind, owner)' },
    ]);
    expect(defineTable(things, { bulkIndexes: ['things_last'] }).bulkIndexes).toMatchObject([
      { name: 'things_last', definition: 'USING btree (owner) WHERE is_last' },
    ]);
    for (const name of ['things_descending', 'things_of_kind'])
      expect(() => defineTable(things, { bulkIndexes: [name] })).toThrow('is not a plain one');
    expect(() => defineTable(things, { bulkIndexes: ['missing'] })).toThrow('has no index missing');
  });
});

describe('a table that the engine could not write is refused when it is defined', () => {
  const at = {
    chainId: bigint('chain_id', { mode: 'number' }),
    blockNumber: bigint('block_number', { mode: 'number' }),
  };

  test.each([
    ['without blocks', { chainId: at.chainId }, 'has no column block_number'],
    ['with a column that has no COPY form here', { ...at, facts: jsonb('facts') }, 'facts is of type jsonb'],
    [
      'that does not begin with its key',
      { amount: uint256('amount'), ...at },
      'does not begin with the first column',
    ],
  ])('a table %s', (_, columns, message) => {
    const table = pgTable('refused', columns, (own) => [primaryKey({ columns: [own.chainId] })]);
    expect(() => defineTable(table)).toThrow(message);
  });
});
