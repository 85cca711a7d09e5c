import { createMissingIndexes, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { TokenKey } from '../collections/token-rows.ts';
import type { RecordKey } from '../records/nft-record.ts';
import { createTransferTables } from '../transfers/transfer-tables.ts';
import { getTokenHolders } from './get-token-holders.ts';

/** Finds who holds single tokens. */
export interface TokenHolders {
  /** As getTokenHolders, with what is known of the contracts' histories. */
  find(
    chain: Chain,
    tokens: readonly TokenKey[],
    coverage: ReadonlyMap<Address, SubjectCoverage>,
  ): Promise<readonly (RecordKey | null)[]>;
  /** Names of the indexes that it can't do without, and that are missing. */
  missingIndexes(): Promise<readonly string[]>;
}

const BY_TOKEN = 'nft_transfers_by_token';
const BY_RANGE = 'nft_transfers_by_range';

/** One for a route. */
export function createTokenHolders(database: Database): TokenHolders {
  const tables = createTransferTables(database);
  const missing = createMissingIndexes(database, systemClock, [BY_TOKEN, BY_RANGE]);
  return {
    missingIndexes: async () => (await missing()).filter((name) => name !== BY_RANGE),
    find: async (chain, tokens, coverage) =>
      getTokenHolders(database, chain, tokens, {
        tables: await tables(),
        hasRanges: !(await missing()).includes(BY_RANGE),
        isWhole: (contract) => coverage.get(contract)?.isCovered ?? false,
      }),
  };
}
