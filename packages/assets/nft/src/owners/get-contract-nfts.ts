import type { Address } from '@chainstead/core';
import { type ReadingSources, readBuilt } from '@chainstead/pages';
import type { RecordKey } from '../records/nft-record.ts';
import { type HeldNow, withAmountsNow } from '../token-state/held-now.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import { readCollectionRows } from './collection-statement.ts';
import type { CollectionSubjects, RequestedCollection } from './collection-subjects.ts';
import { type ContractNftsQuery, contractNftsStatement, type StoredNft } from './contract-nfts-statement.ts';

/**
 * An ERC-1155 amount is the total of all holders. While the history is incomplete, contracts report
 * balances of `givers`; ids without one in time are left out.
 */
export async function getContractNfts(
  sources: ReadingSources,
  { subjects, heldNow }: { readonly subjects: CollectionSubjects; readonly heldNow: HeldNow },
  requested: RequestedCollection,
  query: Omit<ContractNftsQuery, 'contract' | 'isSingle'>,
) {
  const { chain, contract } = requested;
  const collection = await subjects.open(requested);
  const isSingle = collection.contractType !== 'ERC1155';
  const statement = contractNftsStatement(chain, { ...query, contract, isSingle });
  const stored = await readBuilt(sources, (from) => readCollectionRows<StoredNft>(from, chain, statement));
  const state = await subjects.stateOf(requested, collection, stored);
  const rows = stored.rows.slice(0, query.limit);
  const possibleHoldings = rows.flatMap(({ tokenId, givers, lastBlock }) =>
    (givers ?? []).map((giver) => ({
      ...{ address: contract, tokenId, owner: giver as Address },
      ...{ amount: null, blockNumber: changeBlockOf(lastBlock) },
    })),
  );
  const holdings = await withAmountsNow(heldNow, chain, possibleHoldings);
  const heldAfterAll = new Set(holdings.map(({ tokenId }) => tokenId));
  const existing = rows.filter(({ tokenId, isHeld }) => isHeld || heldAfterAll.has(tokenId));
  const totalOf = ({ supply }: StoredNft) => (state.indexed.complete ? supply : null);
  return {
    ...state,
    ids: existing.map(
      (nft): RecordKey => ({
        address: contract,
        tokenId: nft.tokenId,
        owner: isSingle ? nft.receiver : null,
        amount: isSingle ? '1' : totalOf(nft),
        blockNumber: changeBlockOf(nft.lastBlock),
      }),
    ),
    // Last id examined, existing or not, if more follow.
    nextAfter: stored.rows.length > query.limit ? (rows.at(-1)?.tokenHash ?? null) : null,
  };
}
