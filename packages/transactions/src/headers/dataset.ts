import type { Dataset } from '@chainstead/sync';
import { headerRow } from './header-row.ts';
import { blockHeadersTable } from './row-table.ts';
import type { BlockHeaderRow } from './schema.ts';

/**
 * Headers of every block, for chains with `TRANSACTIONS_<CHAIN>=all`: headers and transactions are read together and
 * proven together.
 */
export const blockHeaders: Dataset<BlockHeaderRow> = {
  name: 'block-headers',
  topics: () => [],
  table: blockHeadersTable,
  decode: () => [],
  wholeBlocks: {
    reads: ({ transactions: { mode } }) => (mode === 'all' ? ['transactions'] : []),
    decode: (block, { chain }) => {
      const row = headerRow(block, chain);
      return row === null ? [] : [row];
    },
  },
};
