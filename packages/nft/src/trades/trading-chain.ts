import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Log } from '@chainstead/core';
import { nftTransferTopics, TRANSFER_TOPIC } from '@chainstead/token-events';
import type { Marketplace } from './marketplace.ts';
import { marketplaces } from './marketplaces.ts';

/** The decoders of one chain, arranged so that an irrelevant log costs one lookup. */
export interface TradingChain {
  /** Fill events of the marketplaces deployed here, then NFT and ERC-20 transfer events; empty if none is deployed. */
  readonly topics: readonly Hash[];
  /** The same as a set. */
  readonly topicSet: ReadonlySet<Hash>;
  /** Marketplaces by their contract. */
  readonly byAddress: ReadonlyMap<Address, readonly Marketplace[]>;
  /** Whether the log is a marketplace's own. */
  isFill(log: Log): boolean;
}

const known = new WeakMap<Chain, TradingChain>();

/** Returns the marketplaces of this chain, computed once per chain. */
export function tradingChain(chain: Chain): TradingChain {
  const before = known.get(chain);
  if (before !== undefined) return before;
  const made = layOut(chain);
  known.set(chain, made);
  return made;
}

function layOut(chain: Chain): TradingChain {
  const byAddress = new Map<Address, Marketplace[]>();
  const fillTopics = new Set<Hash>();
  for (const marketplace of chain.nftTrades ? marketplaces : []) {
    const addresses = marketplace.addresses(chain);
    for (const address of addresses) byAddress.set(address, [...(byAddress.get(address) ?? []), marketplace]);
    if (addresses.length > 0) for (const topic of marketplace.topics) fillTopics.add(topic);
  }
  const topics = byAddress.size === 0 ? [] : [...new Set([...fillTopics, ...nftTransferTopics(chain), TRANSFER_TOPIC])];
  const isFill = ({ address, topics: [topic0] }: Log): boolean =>
    topic0 !== undefined &&
    (byAddress.get(address)?.some((marketplace) => marketplace.topics.includes(topic0)) ?? false);
  return { topics, topicSet: new Set(topics), byAddress, isFill };
}
