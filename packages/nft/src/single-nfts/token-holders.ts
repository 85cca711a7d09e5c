import { areTablesSpread, createMissingIndexes, type SubjectCoverage } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { TokenKey } from '../collections/token-rows.ts';
import { type RecordKey, recordId } from '../records/nft-record.ts';
import { type HeldNow, holdingId, NOBODY_ASKED } from '../token-state/held-now.ts';
import { getTokenHolders, type TokenHolder } from './get-token-holders.ts';

/** Finds who holds single tokens. */
export interface TokenHolders {
  /**
   * As getTokenHolders, with what is known of the contracts' histories. What transfers don't tell the contracts are asked: who owns what never moved,
   * and which of those that had some of an ERC-1155 has it still, where its history is not whole.
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
  const missing = createMissingIndexes(database, systemClock, [BY_TOKEN, BY_RANGE]);
  return {
    missingIndexes: async () => (await missing()).filter((name) => name !== BY_RANGE),
    async find(chain, tokens, coverage) {
      const found = await getTokenHolders(database, chain, tokens, {
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
  found: readonly (TokenHolder | null)[],
): Promise<readonly (RecordKey | null)[]> {
  const unmoved = tokens.filter((_, place) => (found[place] ?? null) === null);
  const untold = found.flatMap((holder) =>
    holder === null
      ? []
      : holder.candidates.map(({ owner }) => ({ address: holder.address, tokenId: holder.tokenId, owner })),
  );
  const [owners, amounts] = await Promise.all([
    unmoved.length === 0 ? new Map<string, Address>() : heldNow.ownersOf(chain, unmoved),
    untold.length === 0 ? new Map<string, string>() : heldNow.amountsOf(chain, untold),
  ]);
  return tokens.map((token, place) => {
    const holder = found[place] ?? null;
    if (holder !== null) return holderNow(holder, amounts);
    const owner = owners.get(recordId(token));
    return owner === undefined ? null : { ...token, owner, amount: '1', blockNumber: null };
  });
}

/**
 * The first candidate that has some of it by its contract; else the first of whom it tells nothing in time, and who is known to have received more than it
 * gave; else nobody.
 */
function holderNow({ candidates, ...held }: TokenHolder, amounts: ReadonlyMap<string, string>): RecordKey {
  const told = candidates.map((candidate) => ({
    ...candidate,
    amount: amounts.get(holdingId({ ...held, owner: candidate.owner })) ?? null,
  }));
  const holder =
    told.find(({ amount }) => amount !== null && amount !== '0') ??
    told.find(({ amount, isLikely }) => amount === null && isLikely);
  if (holder === undefined) return held;
  return { ...held, owner: holder.owner, amount: holder.amount, blockNumber: holder.blockNumber };
}
