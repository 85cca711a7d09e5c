/** A small dataset for engine tests: one mark per token transfer, with projections. */
import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Log } from '@chainstead/core';
import { columnsAs, type Database, deleteByKey, rawSql, type Sql, sql } from '@chainstead/db';
import { address, hash } from '@chainstead/db/column-types';
import { TRANSFER_TOPIC } from '@chainstead/testkit';
import { bigint, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import type { Dataset } from '../dataset/dataset.ts';
import type { Projection } from '../dataset/projection.ts';
import { defineTable } from '../dataset/row-table.ts';
import { defineSums } from '../projections/define-sums.ts';

const accountKey = () => ({
  account: address('account').notNull(),
  chainId: bigint('chain_id', { mode: 'number' }).notNull(),
});

export const marksTable = pgTable(
  'marks',
  {
    ...accountKey(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    logIndex: integer('log_index').notNull(),
    amount: numeric('amount').notNull(),
    blockHash: hash('block_hash').notNull(),
  },
  (marks) => [primaryKey({ columns: [marks.account, marks.chainId, marks.blockNumber, marks.logIndex] })],
);

const totals = pgTable('mark_totals', {
  ...accountKey(),
  marks: bigint('marks', { mode: 'number' }).notNull(),
  total: numeric('total').notNull(),
});

const highest = pgTable('mark_highest', { ...accountKey(), amount: numeric('amount').notNull() });

/** A mark with its token, which the table lacks. */
interface Mark extends Readonly<typeof marksTable.$inferSelect> {
  readonly token: Address;
}

/** Returns the recipient. */
export function markedAccount(log: Log): Address | null {
  const [topic0, , to] = log.topics;
  if (topic0 !== TRANSFER_TOPIC || to === undefined || log.topics.length !== 3 || log.data.length !== 66)
    return null;
  return `0x${to.slice(26)}` as Address;
}

/**
 * Projections of the marks: sums by account, which commute; and the highest amount of each account, which must be
 * looked up when rows are removed.
 */
export const marks: Dataset<Mark> = {
  name: 'marks',
  topics: () => [TRANSFER_TOPIC as Hash],
  table: defineTable(marksTable),
  decode: (logs, { chain }) =>
    logs.flatMap((log) => {
      const account = markedAccount(log);
      return account === null ? [] : [markOf(log, account, chain)];
    }),
  contracts: (rows) =>
    rows.map(({ token, blockNumber }) => ({
      address: token,
      standard: blockNumber % 2 === 0 ? 'erc20' : 'erc721',
    })),
  projections: markStates(),
};

function markOf(log: Log, account: Address, chain: Chain): Mark {
  return {
    account,
    chainId: chain.id,
    blockNumber: log.blockNumber,
    logIndex: log.logIndex,
    amount: BigInt(log.data).toString(),
    blockHash: log.blockHash,
    token: log.address,
  };
}

function markStates(): readonly Projection[] {
  const mark = columnsAs(marksTable, 'changed');
  const account = sql`${mark.account}, ${mark.chainId}`;
  const raise = (rows: Sql): Sql =>
    sql`INSERT INTO mark_highest AS stored SELECT ${account}, max(${mark.amount}) FROM ${rows} AS changed GROUP BY ${account} ORDER BY ${account}
      ON CONFLICT (account, chain_id) DO UPDATE SET amount = greatest(stored.amount, excluded.amount)`;
  return [
    defineSums({
      name: 'mark-totals',
      version: 1,
      source: marksTable,
      table: totals,
      key: ['account', 'chainId'],
      sums: { marks: () => rawSql('1'), total: ({ amount }) => amount },
    }),
    {
      name: 'mark-highest',
      version: 1,
      tables: [highest],
      added: ({ rows }) => [raise(rows)],
      removed: ({ rows, remaining }) => {
        const gone = sql`SELECT ${account} FROM ${rows} AS changed`;
        return [
          deleteByKey(highest, ['account', 'chainId'], gone),
          raise(sql`(SELECT * FROM ${remaining} AS every WHERE (account, chain_id) IN (${gone}))`),
        ];
      },
    },
  ];
}

export async function createMarkTables(database: Database): Promise<void> {
  await database.query(sql`CREATE TABLE marks (account bytea, chain_id bigint, block_number bigint, log_index integer,
    amount numeric NOT NULL, block_hash bytea NOT NULL, PRIMARY KEY (account, chain_id, block_number, log_index))`);
  await database.query(
    sql`CREATE TABLE mark_totals (account bytea, chain_id bigint, marks bigint NOT NULL, total numeric NOT NULL, PRIMARY KEY (account, chain_id))`,
  );
  await database.query(
    sql`CREATE TABLE mark_highest (account bytea, chain_id bigint, amount numeric NOT NULL, PRIMARY KEY (account, chain_id))`,
  );
}

/** Last block whose rows a projection counts; null: it is not compared. */
interface CountedTo {
  readonly totals: number | null;
  readonly highest: number | null;
}

/**
 * Returns the differences between the projections and the values computed from the chain's rows; empty if they match.
 * @param rows a relation of all marks, with `amount`
 */
export async function misderived(
  database: Database,
  chainId: number,
  { totals, highest }: CountedTo = { totals: Number.MAX_SAFE_INTEGER, highest: Number.MAX_SAFE_INTEGER },
  rows = 'marks',
): Promise<string[]> {
  const differences = await database.query<{ difference: string }>(
    sql`WITH kept AS (SELECT 'total', account, marks, total FROM mark_totals WHERE chain_id = ${chainId} AND (marks <> 0 OR total <> 0) AND ${totals}::bigint IS NOT NULL
                   UNION ALL SELECT 'highest', account, 0, amount FROM mark_highest WHERE chain_id = ${chainId} AND ${highest}::bigint IS NOT NULL),
          truth AS (SELECT 'total', account, count(*), sum(amount) FROM ${rawSql(rows)} AS every WHERE chain_id = ${chainId} AND block_number <= ${totals} GROUP BY account
                   UNION ALL SELECT 'highest', account, 0, max(amount) FROM ${rawSql(rows)} AS every WHERE chain_id = ${chainId} AND block_number <= ${highest} GROUP BY account)
     SELECT 'surplus ' || s::text AS difference FROM (TABLE kept EXCEPT ALL TABLE truth) AS s
     UNION ALL SELECT 'missing ' || m::text FROM (TABLE truth EXCEPT ALL TABLE kept) AS m`,
  );
  return differences.map(({ difference }) => difference);
}
