import type { Chain } from '@chainstead/chains';
import { type Address, systemClock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { areTablesSpread, createMissingIndexes, type SubjectCoverage } from '@chainstead/pages';
import type { TokenKey } from '../collections/token-rows.ts';
import { type RecordKey, recordId } from '../records/nft-record.ts';
import { type HeldNow, holdingId, NOBODY_REQUESTED } from '../token-state/held-now.ts';
import { getTokenHolders, type TokenHolder } from './get-token-holders.ts';

export interface TokenHolders {
  /** Calls contracts for tokens that never moved, and for ERC-1155 with an incomplete history. */
  find(
    chain: Chain,
    tokens: readonly TokenKey[],
    coverage: ReadonlyMap<Address, SubjectCoverage>,
  ): Promise<readonly (RecordKey | null)[]>;
  missingIndexes(): Promise<readonly string[]>;
}

const BY_TOKEN = 'nft_transfers_by_token';
const BY_RANGE = 'nft_transfers_by_range';

export function createTokenHolders(database: ReadDatabase, heldNow: HeldNow = NOBODY_REQUESTED): TokenHolders {
  const missing = createMissingIndexes(database, systemClock, [BY_TOKEN, BY_RANGE]);
  return {
    missingIndexes: async () => (await missing()).filter((name) => name !== BY_RANGE),
    async find(chain, tokens, coverage) {
      const reported = await getTokenHolders(database, chain, tokens, {
        hasRanges: !(await missing()).includes(BY_RANGE),
        isSpread: await areTablesSpread(database),
        isWhole: (contract) => coverage.get(contract)?.isCovered ?? false,
      });
      return fetchUnreported(heldNow, chain, tokens, reported);
    },
  };
}

async function fetchUnreported(
  heldNow: HeldNow,
  chain: Chain,
  tokens: readonly TokenKey[],
  reported: readonly (TokenHolder | null)[],
): Promise<readonly (RecordKey | null)[]> {
  const unmoved = tokens.filter((_, index) => (reported[index] ?? null) === null);
  const unreported = reported
    .filter((holder) => holder !== null)
    .flatMap(({ address, tokenId, candidates }) => candidates.map(({ owner }) => ({ address, tokenId, owner })));
  const [owners, amounts] = await Promise.all([
    unmoved.length === 0 ? new Map<string, Address>() : heldNow.ownersOf(chain, unmoved),
    unreported.length === 0 ? new Map<string, string>() : heldNow.amountsOf(chain, unreported),
  ]);
  return tokens.map((token, index) => {
    const holder = reported[index] ?? null;
    if (holder !== null) return holderNow(holder, amounts);
    const owner = owners.get(recordId(token));
    return owner === undefined ? null : { ...token, owner, amount: '1', blockNumber: null };
  });
}

function holderNow({ candidates, ...held }: TokenHolder, amounts: ReadonlyMap<string, string>): RecordKey {
  const reported = candidates.map((candidate) => ({
    ...candidate,
    amount: amounts.get(holdingId({ ...held, owner: candidate.owner })) ?? null,
  }));
  const holder =
    reported.find(({ amount }) => amount !== null && amount !== '0') ??
    reported.find(({ amount, isLikely }) => amount === null && isLikely);
  if (holder === undefined) return held;
  return { ...held, owner: holder.owner, amount: holder.amount, blockNumber: holder.blockNumber };
}
