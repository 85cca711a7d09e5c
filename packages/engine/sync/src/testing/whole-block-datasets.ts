/** Two small datasets for engine tests that read more than logs: results of transactions, and calls that move value. */
import type { BlockRange } from '@chainstead/core';
import { type Database, type Sql, sql } from '@chainstead/db';
import { address, hash } from '@chainstead/db/column-types';
import { type ScriptedBlock, type ScriptedCall, type ScriptedChain, scriptedCalls } from '@chainstead/testkit';
import { bigint, boolean, integer, numeric, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { Dataset } from '../dataset/dataset.ts';
import { defineTable } from '../dataset/row-table.ts';

const outcomesTable = pgTable(
  'outcomes',
  {
    transactionHash: hash('transaction_hash').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    succeeded: boolean('succeeded').notNull(),
    gasUsed: numeric('gas_used').notNull(),
    createdContract: address('created_contract'),
    blockHash: hash('block_hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.transactionHash, table.chainId, table.blockNumber] })],
);

/** Each transaction with its status, gas used and created contract. */
export const outcomes: Dataset<Readonly<typeof outcomesTable.$inferSelect>> = {
  name: 'outcomes',
  topics: () => [],
  decode: () => [],
  table: defineTable(outcomesTable),
  wholeBlocks: {
    reads: () => ['transactions'],
    decode: ({ header, transactions }, { chain }) =>
      transactions.map((one) => ({
        transactionHash: one.hash,
        chainId: chain.id,
        blockNumber: header.number,
        transactionIndex: one.index,
        succeeded: one.succeeded === true,
        gasUsed: one.gasUsed.toString(),
        createdContract: one.contractAddress,
        blockHash: header.hash,
      })),
  },
};

const paymentsTable = pgTable(
  'payments',
  {
    recipient: address('recipient').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: bigint('block_number', { mode: 'number' }).notNull(),
    transactionHash: hash('transaction_hash').notNull(),
    /** `0.1.2` */
    place: text('place').notNull(),
    type: text('type').notNull(),
    value: numeric('value').notNull(),
    blockHash: hash('block_hash').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.recipient, table.chainId, table.blockNumber, table.transactionHash, table.place],
    }),
  ],
);

/** Each call inside a transaction that moved value. */
export const payments: Dataset<Readonly<typeof paymentsTable.$inferSelect>> = {
  name: 'payments',
  topics: () => [],
  decode: () => [],
  table: defineTable(paymentsTable),
  wholeBlocks: {
    reads: () => ['internalTransactions'],
    decode: ({ header, internalTransactions }, { chain }) =>
      internalTransactions.flatMap(({ transactionHash, traceAddress, type, to, value, isReverted }) =>
        isReverted || value === 0n || to === null
          ? []
          : [
              {
                recipient: to,
                chainId: chain.id,
                blockNumber: header.number,
                transactionHash,
                place: traceAddress.join('.'),
                type,
                value: value.toString(),
                blockHash: header.hash,
              },
            ],
      ),
  },
};

export async function createWholeBlockTables(database: Database): Promise<void> {
  await database.query(sql`CREATE TABLE outcomes (transaction_hash bytea, chain_id bigint, block_number bigint, transaction_index integer NOT NULL,
    succeeded boolean NOT NULL, gas_used numeric NOT NULL, created_contract bytea, block_hash bytea NOT NULL,
    PRIMARY KEY (transaction_hash, chain_id, block_number))`);
  await database.query(sql`CREATE TABLE payments (recipient bytea, chain_id bigint, block_number bigint, transaction_hash bytea, place text,
    type text NOT NULL, value numeric NOT NULL, block_hash bytea NOT NULL,
    PRIMARY KEY (recipient, chain_id, block_number, transaction_hash, place))`);
}

/** Returns the rows of the canonical blocks as text, computed from the script without a decoder. */
export function expectedOutcomes(scripted: ScriptedChain, range: BlockRange): string[] {
  return scripted
    .blocksIn(range)
    .flatMap(({ number, hash: blockHash, scripted: transactions }) =>
      transactions.map((one, index) =>
        [number, index, one.hash, one.succeeds, one.gasUsed, one.contractAddress ?? 'none', blockHash].join(' '),
      ),
    )
    .sort();
}

/** Returns the same for calls that moved value. */
export function expectedPayments(scripted: ScriptedChain, range: BlockRange): string[] {
  return scripted.blocksIn(range).flatMap(paymentsOf).sort();
}

function paymentsOf({ number, hash: blockHash, transactions, receipts }: ScriptedBlock): string[] {
  const found: string[] = [];
  const walk = (call: ScriptedCall, transaction: unknown, place: readonly number[]): void => {
    if (call.error !== undefined) return;
    if (place.length > 0 && call.value !== '0x0')
      found.push(
        [number, transaction, place.join('.'), call.type, call.to, Number(call.value), blockHash].join(' '),
      );
    for (const [index, inner] of call.calls.entries()) walk(inner, transaction, [...place, index]);
  };
  for (const [index, transaction] of transactions.entries())
    walk(scriptedCalls(transaction, receipts[index] ?? {}), transaction.hash, []);
  return found;
}

/** Returns the stored rows in the same format. */
export async function storedOutcomes(database: Database, chainId: number): Promise<string[]> {
  return listed(
    database,
    sql`SELECT concat_ws(' ', block_number, transaction_index, '0x' || encode(transaction_hash, 'hex'), succeeded::text, gas_used,
            coalesce('0x' || encode(created_contract, 'hex'), 'none'), '0x' || encode(block_hash, 'hex')) AS row
       FROM outcomes WHERE chain_id = ${chainId}`,
  );
}

/** Returns the same for calls that moved value. */
export async function storedPayments(database: Database, chainId: number): Promise<string[]> {
  return listed(
    database,
    sql`SELECT concat_ws(' ', block_number, '0x' || encode(transaction_hash, 'hex'), place, type, '0x' || encode(recipient, 'hex'), value,
            '0x' || encode(block_hash, 'hex')) AS row
       FROM payments WHERE chain_id = ${chainId}`,
  );
}

async function listed(database: Database, statement: Sql): Promise<string[]> {
  const rows = await database.query<{ row: string }>(statement);
  return rows.map(({ row }) => row).sort();
}
