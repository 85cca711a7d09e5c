import { index, onchainTable } from 'ponder';

// Ponder's natural form: one row a Transfer event, with the indexes that a wallet's page needs.
export const transfer = onchainTable(
  'transfer',
  (t) => ({
    id: t.text().primaryKey(),
    token: t.hex().notNull(),
    from: t.hex().notNull(),
    to: t.hex().notNull(),
    value: t.bigint().notNull(),
    blockNumber: t.bigint().notNull(),
    blockHash: t.hex().notNull(),
    blockTimestamp: t.bigint().notNull(),
    transactionHash: t.hex().notNull(),
    transactionIndex: t.integer().notNull(),
    logIndex: t.integer().notNull(),
  }),
  (table) => ({
    byFrom: index().on(table.from, table.blockNumber),
    byTo: index().on(table.to, table.blockNumber),
  }),
);
