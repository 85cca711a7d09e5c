import type { Address } from '@chainstead/core';
import { type ReadingSources, readBuilt } from '@chainstead/data-api';
import type { RecordKey } from '../records/nft-record.ts';
import { type HeldNow, withAmountsNow } from '../token-state/held-now.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { readCollectionRows } from './collection-statement.ts';
import type { CollectionState, CollectionSubjects, RequestedCollection } from './collection-subjects.ts';
import { type ContractNftRow, type ContractNftsQuery, contractNftsStatement } from './contract-nfts-statement.ts';

/** A page of ids, with its completeness. */
export interface ContractNftsFound extends CollectionState {
  /** Highest hash first; at most `query.limit`. */
  readonly ids: readonly RecordKey[];
  /** The hash of the last id examined, existing or not, if more follow; otherwise null. */
  readonly nextAfter: string | null;
}

/**
 * Returns a page of the existing ids of a collection, each once. An ERC-1155 id has no single owner here, and its
 * amount is the total of all holders, known once the collection's history is complete. Until then the contract is
 * called for the balances of accounts that gave away all they are known to have. Ids without such a balance, or without
 * a result in time, are left out.
 */
export async function getContractNfts(
  sources: ReadingSources,
  { subjects, heldNow }: { readonly subjects: CollectionSubjects; readonly heldNow: HeldNow },
  requested: RequestedCollection,
  query: Omit<ContractNftsQuery, 'contract' | 'isSingle'>,
): Promise<ContractNftsFound> {
  const { chain, contract } = requested;
  const collection = await subjects.open(requested);
  const isSingle = collection.contractType !== 'ERC1155';
  const statement = contractNftsStatement(chain, { ...query, contract, isSingle });
  const found = await readBuilt(sources, (from) => readCollectionRows<ContractNftRow>(from, chain, statement));
  const state = await subjects.stateOf(requested, collection, found);
  const rows = found.rows.slice(0, query.limit);
  const heldAfterAll = await idsHeldNow(heldNow, requested, rows);
  const existing = rows.filter(({ token_id, is_held }) => is_held || heldAfterAll.has(token_id));
  return {
    ...state,
    ids: existing.map((row) => ({
      address: contract,
      tokenId: row.token_id,
      owner: isSingle ? row.receiver : null,
      amount: isSingle ? '1' : state.indexed.complete ? row.supply : null,
      blockNumber: changeBlockOf(row.last_block),
    })),
    nextAfter: found.rows.length > query.limit ? (rows.at(-1)?.token_hash ?? null) : null,
  };
}

/** Returns the ids without a known holder that some account holds according to the contract. */
async function idsHeldNow(
  heldNow: HeldNow,
  { chain, contract }: RequestedCollection,
  rows: readonly ContractNftRow[],
): Promise<ReadonlySet<string>> {
  const holdings = rows.flatMap(({ token_id: tokenId, givers, last_block }) =>
    (givers ?? []).map((giver) => ({
      ...{ address: contract, tokenId, owner: giver as Address },
      ...{ amount: null, blockNumber: changeBlockOf(last_block) },
    })),
  );
  return new Set((await withAmountsNow(heldNow, chain, holdings)).map(({ tokenId }) => tokenId));
}
