import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { InnerAsker } from '@chainstead/http';
import { hasNftTransfers } from '@chainstead/nft';
import { readSeenContracts } from '@chainstead/tokens';
import { hasTransactions } from '@chainstead/transactions';
import type { ExplorerServices } from '../explorer-services.ts';
import { resultOf } from '../tables/data-table.ts';

export interface FoundAddress {
  readonly chain: Chain;
  readonly isAccount: boolean;
  readonly transacts: boolean;
  readonly isToken: boolean;
  readonly isCollection: boolean;
  readonly name: string | null;
}

/** Only chains with data. Calls no node, and queues no backfill. */
export async function findAddress(
  explorer: ExplorerServices,
  asker: InnerAsker,
  address: Address,
  chains: readonly Chain[],
): Promise<readonly FoundAddress[]> {
  const contracts = new Map((await readSeenContracts(explorer.reads, address)).map((seen) => [seen.chainId, seen]));
  const all = await Promise.all(
    chains.map(async (chain): Promise<FoundAddress> => {
      const [movesTokens, movesNfts, transacts] = await Promise.all([
        hasTransfers(explorer, asker, chain, address),
        hasNftTransfers(explorer.reads, chain, address),
        hasTransactions(explorer.reads, chain, address),
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
  { data }: ExplorerServices,
  asker: InnerAsker,
  chain: Chain,
  address: Address,
): Promise<boolean> {
  const { body } = await data.get(`/api/v2.2/${address}/erc20/transfers?chain=${chain.key}&limit=1`, asker);
  return resultOf(body).length > 0;
}
