import { type Address, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import {
  deployments,
  type Fill,
  type Marketplace,
  type MarketplaceName,
  type TradedItem,
  type TradeTransaction,
} from '../marketplace.ts';
import { areAdjacent } from '../transaction-window.ts';
import { tokenKey } from '../transfers-by-token.ts';
import { ORDER_FULFILLED, type SeaportOrder, seaportOrder } from './seaport-order.ts';

const ETH = 1;
const OPTIMISM = 10;
const BSC = 56;
const POLYGON = 137;
const BASE = 8453;
const ARBITRUM = 42_161;
const AVALANCHE = 43_114;
const ALL = [ETH, OPTIMISM, BSC, POLYGON, BASE, ARBITRUM, AVALANCHE];

const ORDERS_MATCHED = defineEvent('event OrdersMatched(bytes32[] orderHashes)');

export const seaportMarketplaces: readonly Marketplace[] = [
  seaport('opensea', 'seaport-1.1', everywhere('0x00000000006c3852cbef3e08e8df289169ede581')),
  seaport('opensea', 'seaport-1.2', everywhere('0x00000000000006c7676171937c444f6bde3d6282')),
  seaport('opensea', 'seaport-1.3', everywhere('0x0000000000000ad24e80fd803c6ac37206a45f15')),
  seaport('opensea', 'seaport-1.4', everywhere('0x00000000000001ad428e4906ae43d8f9852d0dd6')),
  seaport('opensea', 'seaport-1.5', everywhere('0x00000000000000adc04c56bf30ac9d3c0aaf14dc')),
  seaport('opensea', 'seaport-1.6', everywhere('0x0000000000000068f116a894984e2db1123eb395')),
  seaport('other', 'alienswap', {
    [ETH]: '0x83746de31fc8de985ffe46c1c20ea6d7d8f4ed3a',
    [BASE]: '0x878dd5e0c3dedfebff67046bb218fb03c26e3e47',
    [ARBITRUM]: '0xb52fdd8f3821cc60ba4583a822f03317de544bc2',
    [OPTIMISM]: '0xb52fdd8f3821cc60ba4583a822f03317de544bc2',
  }),
  seaport('other', 'okx', { [ETH]: '0x90a77dd8ae0525e08b1c2930eb2eb650e78c6725' }),
  seaport('other', 'quix', { [OPTIMISM]: '0x998ef16ea4111094eb5ee72fc2c6f4e6e8647666' }),
];

function everywhere(address: string): Readonly<Record<number, string>> {
  return Object.fromEntries(ALL.map((chainId) => [chainId, address]));
}

function seaport(name: MarketplaceName, protocol: string, known: Readonly<Record<number, string>>): Marketplace {
  return {
    name,
    protocol,
    topics: [ORDER_FULFILLED.topic, ORDERS_MATCHED.topic],
    addresses: deployments(protocol, known),
    fills,
  };
}

function fills(own: readonly Log[], transaction: TradeTransaction): Fill[] {
  const contracts = [...Map.groupBy(own, (log) => log.address).values()];
  return contracts.flatMap((logs) => seaportFills(logs, transaction));
}

function seaportFills(own: readonly Log[], transaction: TradeTransaction): Fill[] {
  const { groups, single } = groupOrders(own, transaction);
  const fills = [...groups.flatMap(matchedFills), ...single.flatMap(singleFill)];
  return fills.toSorted(byLog);
}

/** Since 1.2 a log lists the hashes of a match. In 1.1 they have no recipient and adjacent logs. */
function groupOrders(
  own: readonly Log[],
  transaction: TradeTransaction,
): { groups: SeaportOrder[][]; single: SeaportOrder[] } {
  const groups: SeaportOrder[][] = [];
  const open = new Map<Hex, SeaportOrder[]>();
  for (const log of own) {
    const order = seaportOrder(log);
    if (order !== null) open.set(order.hash, [...(open.get(order.hash) ?? []), order]);
    const hashes = order === null ? ORDERS_MATCHED.read(log)?.orderHashes : undefined;
    if (hashes !== undefined) groups.push(hashes.flatMap((hash) => open.get(hash)?.pop() ?? []).toSorted(byLog));
  }
  const rest = [...open.values()].flat().toSorted(byLog);
  const unnamed = rest.filter((order) => order.recipient === ZERO_ADDRESS);
  return {
    groups: [...groups, ...sideBySide(unnamed, transaction)],
    single: rest.filter((order) => order.recipient !== ZERO_ADDRESS),
  };
}

function sideBySide(orders: readonly SeaportOrder[], transaction: TradeTransaction): SeaportOrder[][] {
  const runs: SeaportOrder[][] = [];
  for (const order of orders) {
    const run = runs.at(-1);
    const before = run?.at(-1)?.log;
    if (before !== undefined && areAdjacent(before, order.log, transaction)) run?.push(order);
    else runs.push([order]);
  }
  return runs;
}

function byLog(left: { readonly log: Log }, right: { readonly log: Log }): number {
  return left.log.logIndex - right.log.logIndex;
}

function singleFill(order: SeaportOrder): Fill[] {
  if (order.kind === 'listing') return listingFill(order, order.requestedItems[0]?.recipient ?? order.recipient);
  return order.kind === 'offer' ? offerFill(order, order.recipient) : [];
}

/**
 * An offer filled by one seller is the trade: the difference is fees. Filled by several, it is a
 * sweep: their listings are the trades. Other listings are private sales, or paid by an order that
 * only adds money.
 */
function matchedFills(orders: readonly SeaportOrder[]): Fill[] {
  const supply = createSupply(orders);
  const settled = new Set<SeaportOrder>();
  const buyers = new Map<SeaportOrder, Address>();
  const fills: Fill[] = [];
  for (const offer of orders.filter((order) => order.kind === 'offer')) {
    const suppliers = new Set(offer.requestedItems.flatMap(supply));
    const sellers = new Set([...suppliers].map((supplier) => supplier.offerer));
    if (sellers.size > 1 && [...suppliers].every((supplier) => supplier.kind === 'listing')) {
      for (const listing of suppliers) buyers.set(listing, offer.requestedItems[0]?.recipient ?? offer.offerer);
      continue;
    }
    const [seller = offer.recipient] = sellers;
    fills.push(...offerFill(offer, seller));
    for (const supplier of suppliers) settled.add(supplier);
  }
  const payer = orders.find((order) => order.offeredMoney !== null && order.requestedItems.length === 0);
  for (const listing of orders.filter((order) => order.kind === 'listing' && !settled.has(order))) {
    const named = listing.requestedItems[0]?.recipient ?? buyers.get(listing) ?? payer?.offerer;
    fills.push(...listingFill(listing, named ?? listing.recipient));
  }
  return fills;
}

function listingFill(order: SeaportOrder, buyer: Address): Fill[] {
  if (order.requestedMoney === null) return [];
  const { token, amount } = order.requestedMoney;
  const { log, offerer: seller, offeredItems: items } = order;
  return [{ log, side: 0, seller, buyer, items, paymentToken: token, price: amount }];
}

function offerFill(order: SeaportOrder, seller: Address): Fill[] {
  if (order.offeredMoney === null) return [];
  const paid = order.offeredMoney;
  const items = order.requestedItems.map(({ token, tokenId, amount }) => ({ token, tokenId, amount }));
  const buyer = order.requestedItems[0]?.recipient ?? order.offerer;
  return [{ log: order.log, side: 1, seller, buyer, items, paymentToken: paid.token, price: paid.amount }];
}

/** Pairs orders by items, never by position; each gives its remaining amount in turn. */
function createSupply(orders: readonly SeaportOrder[]): (item: TradedItem) => SeaportOrder[] {
  const stocks = new Map<string, { order: SeaportOrder; left: bigint }[]>();
  for (const order of orders)
    for (const item of order.offeredItems) {
      const stock = stocks.get(tokenKey(item)) ?? [];
      stock.push({ order, left: BigInt(item.amount) });
      stocks.set(tokenKey(item), stock);
    }
  return (item) => {
    const stock = stocks.get(tokenKey(item)) ?? [];
    const givers: SeaportOrder[] = [];
    for (let wanted = BigInt(item.amount); wanted > 0n; ) {
      const [next] = stock;
      if (next === undefined) break;
      givers.push(next.order);
      const taken = next.left < wanted ? next.left : wanted;
      wanted -= taken;
      next.left -= taken;
      if (next.left === 0n) stock.shift();
    }
    return givers;
  };
}
