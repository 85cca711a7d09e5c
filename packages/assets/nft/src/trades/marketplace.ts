import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, type Log, parseAddress } from '@chainstead/core';
import type { NftTransfer } from '@chainstead/events/token-events';

/** `marketplace` filter: these and `all`. The first five are the hosted API's. */
export const MARKETPLACE_NAMES = [
  'opensea',
  'blur',
  'looksrare',
  'x2y2',
  '0xprotocol',
  'cryptopunks',
  'foundation',
  'superrare',
  'zora',
  'rarible',
  'element',
  'magiceden',
  'other',
] as const;

export type MarketplaceName = (typeof MARKETPLACE_NAMES)[number];

/** 0: a listing was bought, 1: an offer was accepted, 2: unknown. */
export type TradeSide = 0 | 1 | 2;

/** Ids and amounts are decimal digits. */
export interface TradedItem {
  readonly token: Address;
  readonly tokenId: string;
  readonly amount: string;
}

export interface TradeTransaction {
  readonly chain: Chain;
  readonly logs: readonly Log[];
  readonly transfers: readonly NftTransfer[];
  readonly payments: readonly Erc20Payment[];
}

export interface Erc20Payment {
  readonly log: Log;
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
}

export interface Fill {
  /** The fill event; in a matched group, the order with the price. Emitter: the marketplace. */
  readonly log: Log;
  readonly side: TradeSide;
  readonly seller: Address;
  readonly buyer: Address;
  /** In the event's order; never empty. */
  readonly items: readonly TradedItem[];
  /** Null: the chain's native token. */
  readonly paymentToken: Address | null;
  /** Base units: the buyer's total. Null: not in this transaction (an accepted Punk bid). */
  readonly price: bigint | null;
  /** The event's parties are final: no transfer is followed (escrow markets). */
  readonly partiesFinal?: boolean;
}

/**
 * One version of one marketplace.
 *
 * @example
 * ```ts
 * import { defineEvent } from '@chainstead/events/decoding';
 * import { lowerCase, tradedItem } from './traded-item.ts';
 * import { deployments, type Marketplace } from './marketplace.ts';
 *
 * const SOLD = defineEvent(
 *   'event Sold(address indexed seller, address indexed buyer, address token, uint256 tokenId, uint256 price)',
 * );
 *
 * export const bazaar: Marketplace = {
 *   name: 'other',
 *   protocol: 'bazaar-1',
 *   topics: [SOLD.topic],
 *   addresses: deployments('bazaar-1', { 1: '0x00000000000000000000000000000000000ba2aa' }),
 *   fills: (own) =>
 *     own.flatMap((log) => {
 *       const sold = SOLD.read(log);
 *       if (sold === null) return [];
 *       const [seller, buyer] = [lowerCase(sold.seller), lowerCase(sold.buyer)];
 *       const items = [tradedItem(sold.token, sold.tokenId)];
 *       return [{ log, side: 0, seller, buyer, items, paymentToken: null, price: sold.price }];
 *     }),
 * };
 * ```
 */
export interface Marketplace {
  readonly name: MarketplaceName;
  /** Name and version: `seaport-1.6`. */
  readonly protocol: string;
  readonly topics: readonly Hash[];
  addresses(chain: Chain): readonly Address[];
  /** `own`: logs with these topics from these addresses, in order; never empty. */
  fills(own: readonly Log[], transaction: TradeTransaction): readonly Fill[];
}

export function deployments(
  protocol: string,
  known: Readonly<Record<number, string | readonly string[]>>,
): (chain: Chain) => readonly Address[] {
  const byChain = new Map(
    Object.entries(known).map(([id, addresses]) => [Number(id), [addresses].flat().map(parseAddress)]),
  );
  return (chain) => {
    const added = chain.marketplaces.filter((entry) => entry.protocol === protocol).map(({ address }) => address);
    return [...(byChain.get(chain.id) ?? []), ...added];
  };
}
