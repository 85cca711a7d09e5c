import type { Address } from '@chainstead/core';
import { type ReadingSources, readBuilt } from '@chainstead/data-api';
import type { RecordKey } from '../records/nft-record.ts';
import type { TokenHolders } from '../single-nfts/token-holders.ts';
import { type HeldNow, withAmountsNow } from '../token-state/held-now.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { readCollectionRows } from './collection-statement.ts';
import type { CollectionState, CollectionSubjects, RequestedCollection } from './collection-subjects.ts';
import { type OwnerRow, type OwnersQuery, ownersStatement } from './owners-statement.ts';

export interface TokenOwner extends RecordKey {
  readonly owner: Address;
}

/** The position of a row on a page. */
interface OwnerOnPage {
  readonly block: number;
  readonly tokenId: string;
  readonly owner: Address;
  /** For change-pages.ts. */
  readonly mark: string;
}

/** A page of owners, with its completeness. */
export interface OwnersFound extends CollectionState {
  /** Newest change first; at most `query.limit`. */
  readonly owners: readonly TokenOwner[];
  /** Includes all rows that were examined, shown or not. */
  readonly places: readonly OwnerOnPage[];
  readonly hasNext: boolean;
}

interface OwnerSources {
  readonly subjects: CollectionSubjects;
  readonly holders: TokenHolders;
  readonly heldNow: HeldNow;
}

/**
 * Returns a page of the owners of a collection, or of one of its ids. ERC-1155 sums need the complete history. Until
 * then the contract is called for the balances of accounts that gave away at least as much as they are known to have
 * received. Accounts without a balance, or without a result in time, are left out.
 */
export async function getOwners(
  sources: ReadingSources,
  { subjects, holders, heldNow }: OwnerSources,
  requested: RequestedCollection,
  query: Omit<OwnersQuery, 'contract' | 'isSingle'>,
): Promise<OwnersFound> {
  const { chain, contract } = requested;
  const { tokenId, limit } = query;
  const collection = await subjects.open(requested);
  const isSingle = collection.contractType !== 'ERC1155';
  const statement = ownersStatement(chain, { ...query, contract, isSingle });
  const found = await readBuilt(sources, (from) => readCollectionRows<OwnerRow>(from, chain, statement));
  const state = await subjects.stateOf(requested, collection, found);
  if (isSingle && tokenId !== null && query.after === null && found.rows.length === 0)
    return { ...state, owners: await ownerOfUnmoved(holders, requested, tokenId), places: [], hasNext: false };
  const rows = found.rows.slice(0, limit);
  const owners = rows.map(({ token_id, owner, amount, last_block }) => ({
    ...{ address: contract, tokenId: token_id, owner },
    ...{ amount: isSingle ? '1' : amount, blockNumber: changeBlockOf(last_block) },
  }));
  return {
    ...state,
    owners:
      isSingle || state.indexed.complete
        ? owners.filter(({ amount }) => isAboveZero(amount))
        : await withAmountsNow(heldNow, chain, owners),
    places: rows.map(({ token_id: id, owner, last_block: block, mark }) => ({ block, tokenId: id, owner, mark })),
    hasNext: found.rows.length > limit,
  };
}

/** A contract that is not an NFT counts as complete, whatever events it emitted. */
function isAboveZero(amount: string): boolean {
  return amount !== '0' && !amount.startsWith('-');
}

/**
 * An id without its own transfer may be in a range that was minted at once and is not expanded, or have an owner
 * without a transfer.
 */
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
