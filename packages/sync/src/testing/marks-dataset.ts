/** A small dataset for tests of the engine: one mark for each token transfer, and state that follows from the marks. */
import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Log } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { address, hash } from '@chainstead/db/column-types';
import { TRANSFER_TOPIC } from '@chainstead/testkit';
import { bigint, integer, numeric, pgTable, primaryKey } from 'drizzle-orm/pg-core';
import type { Dataset, DerivedState } from '../dataset.ts';
import { defineTable } from '../row-table.ts';

const table = pgTable(
  'marks',
  {
    account: address('account').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    logIndex: integer('log_index').notNull(),
    amount: numeric('amount').notNull(),
    blockHash: hash('block_hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.account, table.chainId, table.blockNumber, table.logIndex] })],
);

/** A mark with the token that was transferred, which the table does not hold. */
interface Mark extends Readonly<typeof table.$inferSelect> {
  readonly token: Address;
}

/** Who received it. */
export function markedAccount(log: Log): Address | null {
  const [topic0, , to] = log.topics;
  if (topic0 !== TRANSFER_TOPIC || to === undefined || log.topics.length !== 3 || log.data.length !== 66) return null;
  return `0x${to.slice(26)}` as Address;
}

/** Sums by account, which commute; and the highest amount of each, which has to be looked for when rows go. */
export const marks: Dataset<Mark> = {
  name: 'marks',
  topics: () => [TRANSFER_TOPIC as Hash],
  table: defineTable(table),
  decode: (logs, { chain }) =>
    logs.flatMap((log) => {
      const account = markedAccount(log);
      return account === null ? [] : [markOf(log, account, chain)];
    }),
  contracts: (rows) =>
    rows.map(({ token, blockNumber }) => ({ address: token, standard: blockNumber % 2 === 0 ? 'erc20' : 'erc721' })),
  derived: markStates(),
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

function markStates(): readonly DerivedState[] {
  const totals = (rows: string, sign: '+' | '-'): string =>
    `INSERT INTO mark_totals SELECT account, chain_id, ${sign}count(*), ${sign}sum(amount) FROM ${rows} AS changed GROUP BY account, chain_id ORDER BY account
      ON CONFLICT (account, chain_id) DO UPDATE SET marks = mark_totals.marks + excluded.marks, total = mark_totals.total + excluded.total`;
  const highest = (rows: string): string =>
    `INSERT INTO mark_highest SELECT account, chain_id, max(amount) FROM ${rows} AS changed GROUP BY account, chain_id ORDER BY account
      ON CONFLICT (account, chain_id) DO UPDATE SET amount = greatest(mark_highest.amount, excluded.amount)`;
  return [
    {
      name: 'mark-totals',
      version: 1,
      tables: ['mark_totals'],
      added: (rows) => [totals(rows, '+')],
      removed: (rows) => [totals(rows, '-')],
    },
    {
      name: 'mark-highest',
      version: 1,
      tables: ['mark_highest'],
      added: (rows) => [highest(rows)],
      removed: (rows, _kept, counted) => [
        `DELETE FROM mark_highest WHERE (account, chain_id) IN (SELECT account, chain_id FROM ${rows} AS gone)`,
        highest(
          `(SELECT * FROM ${counted} AS every WHERE (account, chain_id) IN (SELECT account, chain_id FROM ${rows} AS gone))`,
        ),
      ],
    },
  ];
}

export async function createMarkTables(database: Database): Promise<void> {
  await database.query(`CREATE TABLE marks (account bytea, chain_id bigint, block_number bigint, log_index integer,
    amount numeric NOT NULL, block_hash bytea NOT NULL, PRIMARY KEY (account, chain_id, block_number, log_index))`);
  await database.query(
    'CREATE TABLE mark_totals (account bytea, chain_id bigint, marks bigint NOT NULL, total numeric NOT NULL, PRIMARY KEY (account, chain_id))',
  );
  await database.query(
    'CREATE TABLE mark_highest (account bytea, chain_id bigint, amount numeric NOT NULL, PRIMARY KEY (account, chain_id))',
  );
}

/** The last block whose rows a state is to count; null: it is not compared. */
interface CountedTo {
  readonly totals: number | null;
  readonly highest: number | null;
}

/**
 * What of the derived state differs from what the rows of the chain add up to; empty when nothing does.
 * @param rows a relation of all marks, with `amount`
 */
export async function misderived(
  database: Database,
  chainId: number,
  { totals, highest }: CountedTo = { totals: Number.MAX_SAFE_INTEGER, highest: Number.MAX_SAFE_INTEGER },
  rows = 'marks',
): Promise<string[]> {
  const differences = await database.query<{ difference: string }>(
    `WITH kept AS (SELECT 'total', account, marks, total FROM mark_totals WHERE chain_id = $1 AND (marks <> 0 OR total <> 0) AND $2::bigint IS NOT NULL
                   UNION ALL SELECT 'highest', account, 0, amount FROM mark_highest WHERE chain_id = $1 AND $3::bigint IS NOT NULL),
          truth AS (SELECT 'total', account, count(*), sum(amount) FROM ${rows} AS every WHERE chain_id = $1 AND block_number <= $2 GROUP BY account
                   UNION ALL SELECT 'highest', account, 0, max(amount) FROM ${rows} AS every WHERE chain_id = $1 AND block_number <= $3 GROUP BY account)
     SELECT 'surplus ' || s::text AS difference FROM (TABLE kept EXCEPT ALL TABLE truth) AS s
     UNION ALL SELECT 'missing ' || m::text FROM (TABLE truth EXCEPT ALL TABLE kept) AS m`,
    [chainId, totals, highest],
  );
  return differences.map(({ difference }) => difference);
}
