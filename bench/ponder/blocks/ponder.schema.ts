import { onchainTable } from 'ponder';

export const header = onchainTable('header', (t) => ({
  number: t.bigint().primaryKey(),
  hash: t.hex().notNull(),
  parentHash: t.hex().notNull(),
  timestamp: t.bigint().notNull(),
  miner: t.hex().notNull(),
  gasUsed: t.bigint().notNull(),
}));

export const transaction = onchainTable('transaction', (t) => ({
  hash: t.hex().primaryKey(),
  blockNumber: t.bigint().notNull(),
  transactionIndex: t.integer().notNull(),
  from: t.hex().notNull(),
  to: t.hex(),
  value: t.bigint().notNull(),
  nonce: t.integer().notNull(),
  gas: t.bigint().notNull(),
}));
