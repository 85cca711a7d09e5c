import { type Dataset, defineTable } from '@chainstead/sync';
import { headerRow } from './header-row.ts';
import { type BlockHeaderRow, blockHeaders as table } from './schema.ts';

/** With `TRANSACTIONS_<CHAIN>=all`: headers and transactions are read and proven together. */
export const blockHeaders: Dataset<BlockHeaderRow> = {
  name: 'block-headers',
  topics: () => [],
  table: defineTable(table),
  decode: () => [],
  wholeBlocks: {
    reads: ({ transactions: { mode } }) => (mode === 'all' ? ['transactions'] : []),
    decode: (block, { chain }) => {
      const row = headerRow(block, chain);
      return row === null ? [] : [row];
    },
  },
};
