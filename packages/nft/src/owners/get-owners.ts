import { type ReadingSources, readKept } from '@chainstead/answers';
import type { Address } from '@chainstead/core';
import type { RecordKey } from '../records/nft-record.ts';
import type { TokenHolders } from '../single-nfts/token-holders.ts';
import { type HeldNow, withAmountsNow } from '../token-state/held-now.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { readCollectionRows } from './collection-statement.ts';
import type { AskedCollection, CollectionState, CollectionSubjects } from './collection-subjects.ts';
import { type OwnerRow, type OwnersQuery, ownersStatement } from './owners-statement.ts';

/** An owner of an id. */
export interface TokenOwner extends RecordKey {
  readonly owner: Address;
}

/** Where a row of a page stands. */
interface OwnerOnPage {
  readonly block: number;
  readonly tokenId: string;
  readonly owner: Address;
  /** For change-pages.ts. */
  readonly mark: string;
}

/** With how complete it is. */
export interface OwnersFound extends CollectionState {
  /** Newest change first; at most `query.limit`. */
  readonly owners: readonly TokenOwner[];
  /** Of all rows that were looked at, shown or not. */
  readonly places: readonly OwnerOnPage[];
  readonly hasNext: boolean;
}

/** What owners are found with. */
interface OwnerSources {
  readonly subjects: CollectionSubjects;
  readonly holders: TokenHolders;
  readonly heldNow: HeldNow;
}

/**
 * A page of the owners of a collection, or of one id of it. Sums of an ERC-1155 need its beginning: until that is known its contract is asked what
 * they have, those among them who gave all that they are known to have received, or more; and who holds nothing, or was not told in time, is left out.
 */
export async function getOwners(
  sources: ReadingSources,
  { subjects, holders, heldNow }: OwnerSources,
  asked: AskedCollection,
  query: Omit<OwnersQuery, 'contract' | 'isSingle'>,
): Promise<OwnersFound> {
  const { chain, contract } = asked;
  const { tokenId, limit } = query;
  const collection = await subjects.open(asked);
  const isSingle = collection.contractType !== 'ERC1155';
  const statement = ownersStatement(chain, { ...query, contract, isSingle });
  const found = await readKept(sources, (from) => readCollectionRows<OwnerRow>(from, chain, statement));
  const state = await subjects.stateOf(asked, collection, found);
  if (isSingle && tokenId !== null && query.after === null && found.rows.length === 0)
    return { ...state, owners: await ownerOfUnmoved(holders, asked, tokenId), places: [], hasNext: false };
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

/** What is no NFT counts as complete, whatever its events claim. */
function isAboveZero(amount: string): boolean {
  return amount !== '0' && !amount.startsWith('-');
}

/** An id that never moved by itself may lie in a range that was minted at once and is not expanded, or have an owner without a transfer. */
async function ownerOfUnmoved(
  holders: TokenHolders,
  { chain, contract }: AskedCollection,
  tokenId: string,
): Promise<readonly TokenOwner[]> {
  if ((await holders.missingIndexes()).length > 0) return [];
  const [held] = await holders.find(chain, [{ address: contract, tokenId }], new Map());
  if (held === null || held === undefined) return [];
  const { owner } = held;
  return owner === null ? [] : [{ ...held, owner }];
}
