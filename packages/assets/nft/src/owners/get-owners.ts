import type { Address } from '@chainstead/core';
import { type ReadingSources, readBuilt } from '@chainstead/pages';
import type { RecordKey } from '../records/nft-record.ts';
import type { TokenHolders } from '../single-nfts/token-holders.ts';
import { type HeldNow, withAmountsNow } from '../token-state/held-now.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { readCollectionRows } from './collection-statement.ts';
import type { CollectionState, CollectionSubjects, RequestedCollection } from './collection-subjects.ts';
import { type OwnerOfNft, type OwnersQuery, ownersStatement } from './owners-statement.ts';

type TokenOwner = RecordKey & { readonly owner: Address };

export interface OwnersFound extends CollectionState {
  readonly owners: readonly TokenOwner[];
  readonly places: readonly OwnerOfNft[];
  readonly hasNext: boolean;
}

/**
 * While the history is incomplete, ERC-1155 contracts report balances of accounts with a sum of
 * zero or less. Accounts without a result in time are left out.
 */
export async function getOwners(
  sources: ReadingSources,
  {
    subjects,
    holders,
    heldNow,
  }: { readonly subjects: CollectionSubjects; readonly holders: TokenHolders; readonly heldNow: HeldNow },
  requested: RequestedCollection,
  query: Omit<OwnersQuery, 'contract' | 'isSingle'>,
): Promise<OwnersFound> {
  const { chain, contract } = requested;
  const { tokenId, limit } = query;
  const collection = await subjects.open(requested);
  const isSingle = collection.contractType !== 'ERC1155';
  const statement = ownersStatement(chain, { ...query, contract, isSingle });
  const stored = await readBuilt(sources, (from) => readCollectionRows<OwnerOfNft>(from, chain, statement));
  const state = await subjects.stateOf(requested, collection, stored);
  if (isSingle && tokenId !== null && query.after === null && stored.rows.length === 0)
    return { ...state, owners: await ownerOfUnmoved(holders, requested, tokenId), places: [], hasNext: false };
  const places = stored.rows.slice(0, limit);
  const owners = places.map((row) => ({
    ...{ address: contract, tokenId: row.tokenId, owner: row.owner },
    ...{ amount: isSingle ? '1' : row.amount, blockNumber: changeBlockOf(row.block) },
  }));
  return {
    ...state,
    // A contract that is not an NFT counts as complete: its amounts may be below zero.
    owners:
      isSingle || state.indexed.complete
        ? owners.filter(({ amount }) => BigInt(amount) > 0n)
        : await withAmountsNow(heldNow, chain, owners),
    places,
    hasNext: stored.rows.length > limit,
  };
}

/** It may be in an unexpanded range, or have an owner without a transfer. */
async function ownerOfUnmoved(
  holders: TokenHolders,
  { chain, contract }: RequestedCollection,
  tokenId: string,
): Promise<readonly TokenOwner[]> {
  if ((await holders.missingIndexes()).length > 0) return [];
  const [held] = await holders.find(chain, [{ address: contract, tokenId }], new Map());
  if (held === null || held === undefined) return [];
  const { owner } = held;
  return owner === null ? [] : [{ ...held, owner }];
}
