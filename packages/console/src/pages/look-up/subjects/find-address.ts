import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { InnerAsker } from '@chainstead/http';
import { hasNftTransfers } from '@chainstead/nft';
import { readSeenContracts } from '@chainstead/tokens';
import { hasTransactions } from '@chainstead/transactions';
import type { LookUpServices } from '../look-up-services.ts';
import { resultOf } from '../tables/data-table.ts';

/** What an address is on one chain, by what is indexed. */
export interface FoundAddress {
  readonly chain: Chain;
  /** It sent or received something. */
  readonly isAccount: boolean;
  /** It had a part in a transaction: a contract that was called, too. */
  readonly transacts: boolean;
  /** Of ERC-20. */
  readonly isToken: boolean;
  /** Of NFTs. */
  readonly isCollection: boolean;
  /** Of the contract. */
  readonly name: string | null;
}

/**
 * What an address is on each of the chains, where it is anything. Looks at first entries of indexes alone; nothing is asked of nodes, and no history is
 * read on its behalf.
 */
export async function findAddress(
  lookUp: LookUpServices,
  asker: InnerAsker,
  address: Address,
  chains: readonly Chain[],
): Promise<readonly FoundAddress[]> {
  const contracts = new Map((await readSeenContracts(lookUp.reads, address)).map((seen) => [seen.chainId, seen]));
  const all = await Promise.all(
    chains.map(async (chain): Promise<FoundAddress> => {
      const [movesTokens, movesNfts, transacts] = await Promise.all([
        hasTransfers(lookUp, asker, chain, address),
        hasNftTransfers(lookUp.reads, chain, address),
        hasTransactions(lookUp.reads, chain, address),
      ]);
      const seen = contracts.get(chain.id);
      return {
        chain,
        isAccount: movesTokens || movesNfts,
        transacts,
        isToken: seen?.isToken === true,
        isCollection: seen?.isCollection === true,
        name: seen?.name ?? seen?.symbol ?? null,
      };
    }),
  );
  return all.filter(
    ({ isAccount, transacts, isToken, isCollection }) => isAccount || transacts || isToken || isCollection,
  );
}

async function hasTransfers(
  { data }: LookUpServices,
  asker: InnerAsker,
  chain: Chain,
  address: Address,
): Promise<boolean> {
  const { body } = await data.get(`/api/v2.2/${address}/erc20/transfers?chain=${chain.key}&limit=1`, asker);
  return resultOf(body).length > 0;
}
