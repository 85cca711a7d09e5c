import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { RecordKey } from '../records/nft-record.ts';
import type { TokenHolders } from '../single-nfts/token-holders.ts';
import { readCollectionRows } from './collection-statement.ts';
import type { AskedCollection, CollectionState, CollectionSubjects } from './collection-subjects.ts';
import { type OwnerRow, type OwnersQuery, ownersStatement } from './owners-statement.ts';

/** An owner of an id. */
export interface TokenOwner extends RecordKey {
  readonly owner: Address;
  readonly blockNumber: number;
  /** For change-pages.ts. */
  readonly mark: string;
}

/** With how complete it is. */
export interface OwnersFound extends CollectionState {
  /** Newest change first; at most `query.limit`. */
  readonly owners: readonly TokenOwner[];
  readonly hasNext: boolean;
}

/** A page of the owners of a collection, or of one id of it. */
export async function getOwners(
  database: Database,
  { subjects, holders }: { readonly subjects: CollectionSubjects; readonly holders: TokenHolders },
  asked: AskedCollection,
  query: Omit<OwnersQuery, 'contract' | 'isSingle'>,
): Promise<OwnersFound> {
  const { chain, contract } = asked;
  const { tokenId, limit } = query;
  const collection = await subjects.open(asked);
  const isSingle = collection.contractType !== 'ERC1155';
  const statement = ownersStatement(chain, { ...query, contract, isSingle });
  const found = await readCollectionRows<OwnerRow>(database, chain, statement);
  const state = await subjects.stateOf(asked, collection, found);
  if (isSingle && tokenId !== null && query.after === null && found.rows.length === 0)
    return { ...state, owners: await ownerOfUnmoved(holders, asked, tokenId), hasNext: false };
  // Sums of an ERC-1155 need its beginning: until that is known they are not shown.
  const rows = isSingle || state.indexed.complete ? found.rows : [];
  return {
    ...state,
    owners: rows.slice(0, limit).map((row) => ({
      address: contract,
      tokenId: row.token_id,
      owner: row.owner,
      amount: isSingle ? '1' : row.amount,
      blockNumber: row.last_block,
      mark: row.mark,
    })),
    hasNext: rows.length > limit,
  };
}

/** An id that never moved by itself may lie in a range that was minted at once and is not expanded. */
async function ownerOfUnmoved(
  holders: TokenHolders,
  { chain, contract }: AskedCollection,
  tokenId: string,
): Promise<readonly TokenOwner[]> {
  if ((await holders.missingIndexes()).length > 0) return [];
  const [held] = await holders.find(chain, [{ address: contract, tokenId }], new Map());
  if (held === null || held === undefined) return [];
  const { owner, blockNumber } = held;
  return owner === null || blockNumber === null ? [] : [{ ...held, owner, blockNumber, mark: '' }];
}
