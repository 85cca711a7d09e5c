import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange, Hash } from '@chainstead/core';
import type { Database } from '@chainstead/db';

export interface SentTransaction {
  readonly block: number;
  readonly hash: Hash;
}

/** No log filter finds them: wallet searches do, by the nonces of old blocks. */
export interface SentTransactions {
  /** With all transactions that the account sent. Ascending, disjoint. */
  knownBlocks(database: Database, chain: Chain, account: Address): Promise<readonly BlockRange[]>;
  /** In known blocks, newest first: `limit`, and those of the same block as the last. */
  list(
    database: Database,
    chain: Chain,
    wanted: { readonly account: Address; readonly range: BlockRange; readonly limit: number },
  ): Promise<readonly SentTransaction[]>;
  /** Null while the search works or waits; otherwise why it finds nothing more. */
  search(database: Database, chain: Chain, account: Address, maxCalls: number): Promise<string | null>;
}
