import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange, Hash } from '@chainstead/core';
import type { Database } from '@chainstead/db';

/** The receipt is not read yet. */
export interface FoundTransaction {
  readonly block: number;
  readonly hash: Hash;
}

/** No filter of logs finds transactions that accounts sent: wallet searches do, by the nonces of old blocks. */
export interface SentTransactions {
  /** Blocks with all transactions that the account sent. Ascending, disjoint. */
  knownBlocks(database: Database, chain: Chain, account: Address): Promise<readonly BlockRange[]>;
  /** In known blocks, newest first: `limit`, and those of the same block as the last. */
  list(
    database: Database,
    chain: Chain,
    wanted: { readonly account: Address; readonly range: BlockRange; readonly limit: number },
  ): Promise<readonly FoundTransaction[]>;
  /** Requests a search of the other blocks. @returns null while it works or waits, otherwise why it finds nothing more */
  search(database: Database, chain: Chain, account: Address, maxCalls: number): Promise<string | null>;
}
