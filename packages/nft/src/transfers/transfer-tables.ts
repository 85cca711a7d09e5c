import { createTablesInUse, type TablesInUse } from '@chainstead/answers';
import { systemClock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';

/** The table of transfers before it was partitioned. */
export const FORMER_TRANSFERS = 'nft_transfers_unpartitioned';

/** Tells which tables hold transfers. */
export function createTransferTables(database: ReadDatabase): () => Promise<TablesInUse> {
  return createTablesInUse(database, systemClock, FORMER_TRANSFERS);
}
