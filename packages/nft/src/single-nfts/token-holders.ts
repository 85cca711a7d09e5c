import { areTablesSpread, createMissingIndexes, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { TokenKey } from '../collections/token-rows.ts';
import { type RecordKey, recordId } from '../records/nft-record.ts';
import { type HeldNow, holdingId, NOBODY_ASKED } from '../token-state/held-now.ts';
import { createTransferTables } from '../transfers/transfer-tables.ts';
import { getTokenHolders } from './get-token-holders.ts';

/** Finds who holds single tokens. */
export interface TokenHolders {
  /**
   * As getTokenHolders, with what is known of the contracts' histories. What transfers don't tell the contracts are asked: who owns what never moved,
   * and what the holder has of an ERC-1155 whose history is not whole.
   */
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

/**
 * One for a route.
 * @param heldNow default: no contract is asked
 */
export function createTokenHolders(database: ReadDatabase, heldNow: HeldNow = NOBODY_ASKED): TokenHolders {
  const tables = createTransferTables(database);
  const missing = createMissingIndexes(database, systemClock, [BY_TOKEN, BY_RANGE]);
  return {
    missingIndexes: async () => (await missing()).filter((name) => name !== BY_RANGE),
    async find(chain, tokens, coverage) {
      const found = await getTokenHolders(database, chain, tokens, {
        tables: await tables(),
        hasRanges: !(await missing()).includes(BY_RANGE),
        isSpread: await areTablesSpread(database),
        isWhole: (contract) => coverage.get(contract)?.isCovered ?? false,
      });
      return askUntold(heldNow, chain, tokens, found);
    },
  };
}

async function askUntold(
  heldNow: HeldNow,
  chain: Chain,
  tokens: readonly TokenKey[],
  found: readonly (RecordKey | null)[],
): Promise<readonly (RecordKey | null)[]> {
  const unmoved = tokens.filter((_, place) => (found[place] ?? null) === null);
  const uncounted = found.flatMap((key) => (isUncounted(key) ? [key] : []));
  const [owners, amounts] = await Promise.all([
    unmoved.length === 0 ? new Map<string, Address>() : heldNow.ownersOf(chain, unmoved),
    uncounted.length === 0 ? new Map<string, string>() : heldNow.amountsOf(chain, uncounted),
  ]);
  return tokens.map((token, place) => {
    const key = found[place] ?? null;
    if (isUncounted(key)) {
      const amount = amounts.get(holdingId(key)) ?? null;
      // Who received it last may have given it away since, in a block that is not indexed.
      return amount === '0' ? { ...key, owner: null } : { ...key, amount };
    }
    const owner = owners.get(recordId(token));
    return key !== null || owner === undefined ? key : { ...token, owner, amount: '1', blockNumber: null };
  });
}

function isUncounted(key: RecordKey | null): key is RecordKey & { readonly owner: Address } {
  return key !== null && key.owner !== null && key.amount === null;
}
