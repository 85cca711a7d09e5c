import { type ReadingSources, readKept } from '@chainstead/answers';
import type { RecordKey } from '../records/nft-record.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { readCollectionRows } from './collection-statement.ts';
import type { AskedCollection, CollectionState, CollectionSubjects } from './collection-subjects.ts';
import { type ContractNftRow, type ContractNftsQuery, contractNftsStatement } from './contract-nfts-statement.ts';

/** An id of a collection that somebody holds. */
export interface ContractNft extends RecordKey {
  /** Of the token: 32 hexadecimal digits. */
  readonly hash: string;
}

/** With how complete it is. */
export interface ContractNftsFound extends CollectionState {
  /** Highest hash first; at most `query.limit`. */
  readonly ids: readonly ContractNft[];
  readonly hasNext: boolean;
}

/**
 * A page of the existing ids of a collection, each once: an ERC-1155's belong to nobody here and have what all hold together, which is known
 * once the collection's history is complete.
 */
export async function getContractNfts(
  sources: ReadingSources,
  subjects: CollectionSubjects,
  asked: AskedCollection,
  query: Omit<ContractNftsQuery, 'contract'>,
): Promise<ContractNftsFound> {
  const { chain, contract } = asked;
  const collection = await subjects.open(asked);
  const statement = contractNftsStatement(chain, { ...query, contract });
  const found = await readKept(sources, (from) => readCollectionRows<ContractNftRow>(from, chain, statement));
  const state = await subjects.stateOf(asked, collection, found);
  const isSingle = collection.contractType !== 'ERC1155';
  return {
    ...state,
    ids: found.rows.slice(0, query.limit).map((row) => ({
      address: contract,
      tokenId: row.token_id,
      owner: isSingle ? row.receiver : null,
      amount: isSingle ? '1' : state.indexed.complete ? row.supply : null,
      blockNumber: changeBlockOf(row.last_block),
      hash: row.token_hash,
    })),
    hasNext: found.rows.length > query.limit,
  };
}
