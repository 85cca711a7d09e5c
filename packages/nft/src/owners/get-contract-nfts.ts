import { type ReadingSources, readKept } from '@chainstead/answers';
import type { Address } from '@chainstead/core';
import type { RecordKey } from '../records/nft-record.ts';
import { type HeldNow, withAmountsNow } from '../token-state/held-now.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { readCollectionRows } from './collection-statement.ts';
import type { AskedCollection, CollectionState, CollectionSubjects } from './collection-subjects.ts';
import { type ContractNftRow, type ContractNftsQuery, contractNftsStatement } from './contract-nfts-statement.ts';

/** With how complete it is. */
export interface ContractNftsFound extends CollectionState {
  /** Highest hash first; at most `query.limit`. */
  readonly ids: readonly RecordKey[];
  /** Of the last id that was looked at, whether it exists or not, where others follow; null: none do. */
  readonly nextAfter: string | null;
}

/**
 * A page of the existing ids of a collection, each once: an ERC-1155's belong to nobody here and have what all hold together, which is known
 * once the collection's history is complete. Until then its contract is asked whether those who gave all that is known of an id hold some of it, which is
 * left out where they don't, or where that is not told in time.
 */
export async function getContractNfts(
  sources: ReadingSources,
  { subjects, heldNow }: { readonly subjects: CollectionSubjects; readonly heldNow: HeldNow },
  asked: AskedCollection,
  query: Omit<ContractNftsQuery, 'contract' | 'isSingle'>,
): Promise<ContractNftsFound> {
  const { chain, contract } = asked;
  const collection = await subjects.open(asked);
  const isSingle = collection.contractType !== 'ERC1155';
  const statement = contractNftsStatement(chain, { ...query, contract, isSingle });
  const found = await readKept(sources, (from) => readCollectionRows<ContractNftRow>(from, chain, statement));
  const state = await subjects.stateOf(asked, collection, found);
  const rows = found.rows.slice(0, query.limit);
  const heldAfterAll = await idsHeldNow(heldNow, asked, rows);
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

/** Those of the ids that nobody is known to hold of which somebody has some by the contract. */
async function idsHeldNow(
  heldNow: HeldNow,
  { chain, contract }: AskedCollection,
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
