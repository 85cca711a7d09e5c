import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Log } from '@chainstead/core';
import { nftTransferTopics, TRANSFER_TOPIC } from '@chainstead/events/token-events';
import type { Marketplace } from './marketplace.ts';
import { marketplaces } from './marketplaces.ts';

export interface TradingChain {
  /** Fill events, then NFT and ERC-20 transfers; empty if no marketplace is deployed. */
  readonly topics: readonly Hash[];
  readonly byAddress: ReadonlyMap<Address, readonly Marketplace[]>;
  isFill(log: Log): boolean;
}

const byChain = new WeakMap<Chain, TradingChain>();

export function tradingChain(chain: Chain): TradingChain {
  const cached = byChain.get(chain);
  if (cached !== undefined) return cached;
  const byAddress = new Map<Address, Marketplace[]>();
  const fillTopics = new Set<Hash>();
  for (const marketplace of chain.nftTrades ? marketplaces : []) {
    const addresses = marketplace.addresses(chain);
    for (const address of addresses) byAddress.set(address, [...(byAddress.get(address) ?? []), marketplace]);
    if (addresses.length > 0) for (const topic of marketplace.topics) fillTopics.add(topic);
  }
  const topics =
    byAddress.size === 0 ? [] : [...new Set([...fillTopics, ...nftTransferTopics(chain), TRANSFER_TOPIC])];
  const isFill = ({ address, topics: [topic0] }: Log): boolean =>
    topic0 !== undefined &&
    (byAddress.get(address)?.some((marketplace) => marketplace.topics.includes(topic0)) ?? false);
  const trading = { topics, byAddress, isFill };
  byChain.set(chain, trading);
  return trading;
}
