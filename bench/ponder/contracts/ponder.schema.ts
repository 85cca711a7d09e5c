import { onchainTable } from 'ponder';

// The columns of a contract table of Chainstead.
export const transfer = onchainTable('transfer', (t) => ({
  id: t.text().primaryKey(),
  blockNumber: t.bigint().notNull(),
  blockTime: t.bigint().notNull(),
  transactionHash: t.hex().notNull(),
  transactionIndex: t.integer().notNull(),
  logIndex: t.integer().notNull(),
  contract: t.hex().notNull(),
  from: t.hex().notNull(),
  to: t.hex().notNull(),
  value: t.bigint().notNull(),
}));
