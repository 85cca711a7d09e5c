import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { NftTransfer } from '@chainstead/events/token-events';
import type { Fill, TradedItem } from './marketplace.ts';
import { type TransfersByToken, tokenKey } from './transfers-by-token.ts';

/**
 * Tokens that really moved and accounts behind routers (docs/api/trades-and-prices.md). Searches
 * the taker along transfers, until another fill, a burn, or a cycle: the maker signed the order.
 */
export function resolveParties(fills: readonly Fill[], transfers: TransfersByToken): Fill[] {
  const corrected = fills.map((fill) => ({
    ...fill,
    items: fill.items.map((item) => movedItem(item, fill, transfers)),
  }));
  const bought = partiesOf(corrected, (fill) => fill.buyer);
  const sold = corrected.map((fill) => {
    const followed = fill.partiesFinal !== true && fill.side !== 0;
    const seller = followed ? agreed(fill, (item) => firstHolder(item, fill, transfers, bought)) : null;
    return { ...fill, seller: seller ?? fill.seller };
  });
  const resold = partiesOf([...corrected, ...sold], (fill) => fill.seller);
  return sold.map((fill) => {
    const followed = fill.partiesFinal !== true && fill.side !== 1;
    const buyer = followed ? agreed(fill, (item) => lastHolder(item, fill, transfers, resold)) : null;
    return { ...fill, buyer: buyer ?? fill.buyer };
  });
}

function partiesOf(fills: readonly Fill[], party: (fill: Fill) => Address): ReadonlySet<string> {
  return new Set(fills.flatMap((fill) => fill.items.map((item) => partyKey(item, party(fill)))));
}

const BURN_ADDRESSES: ReadonlySet<string> = new Set([ZERO_ADDRESS, `0x${'0'.repeat(36)}dead`]);

function agreed(fill: Fill, partyOf: (item: TradedItem) => Address): Address | null {
  const parties = new Set(fill.items.map(partyOf));
  const [only] = parties;
  return parties.size === 1 && only !== undefined ? only : null;
}

/** The same id of another contract, if only that moved (shared storefront). */
function movedItem(item: TradedItem, fill: Fill, transfers: TransfersByToken): TradedItem {
  const sameId = transfers.withId(item.tokenId);
  if (sameId.some((transfer) => transfer.token === item.token)) return item;
  const instead = sameId.filter(
    (transfer) =>
      (transfer.from === fill.seller || transfer.to === fill.buyer) && transfer.amount === item.amount,
  );
  const tokens = new Set(instead.map((transfer) => transfer.token));
  const [token] = tokens;
  return tokens.size === 1 && token !== undefined ? { ...item, token } : item;
}

function lastHolder(
  item: TradedItem,
  fill: Fill,
  transfers: TransfersByToken,
  resold: ReadonlySet<string>,
): Address {
  const all = transfers.of(item);
  let at = deliveryTo(all, fill);
  let holder = all[at]?.to ?? fill.buyer;
  const seen = new Set<Address>([fill.seller, holder]);
  while (at !== -1 && !resold.has(partyKey(item, holder))) {
    const next = all.findIndex((transfer, index) => index > at && transfer.from === holder);
    const to = all[next]?.to;
    if (to === undefined || seen.has(to) || BURN_ADDRESSES.has(to)) break;
    seen.add(to);
    holder = to;
    at = next;
  }
  return holder;
}

/** To the buyer, else from the seller if it sent to one account only. −1: none. */
function deliveryTo(all: readonly NftTransfer[], { seller, buyer }: Fill): number {
  const direct = all.findIndex((transfer) => transfer.from === seller && transfer.to === buyer);
  if (direct !== -1) return direct;
  const received = all.findIndex((transfer) => transfer.to === buyer);
  if (received !== -1) return received;
  const sent = all.filter((transfer) => transfer.from === seller && !BURN_ADDRESSES.has(transfer.to));
  return new Set(sent.map((transfer) => transfer.to)).size === 1 && sent[0] !== undefined
    ? all.indexOf(sent[0])
    : -1;
}

function firstHolder(
  item: TradedItem,
  fill: Fill,
  transfers: TransfersByToken,
  bought: ReadonlySet<string>,
): Address {
  const all = transfers.of(item);
  let at = deliveryFrom(all, fill);
  let holder = all[at]?.from ?? fill.seller;
  const seen = new Set<Address>([fill.buyer, holder]);
  while (at !== -1 && !bought.has(partyKey(item, holder))) {
    const before = all.findLastIndex((transfer, index) => index < at && transfer.to === holder);
    const from = all[before]?.from;
    if (from === undefined || seen.has(from) || from === ZERO_ADDRESS) break;
    seen.add(from);
    holder = from;
    at = before;
  }
  return holder;
}

/** From the seller, else to the buyer if from one account only. −1: none. */
function deliveryFrom(all: readonly NftTransfer[], { seller, buyer }: Fill): number {
  const direct = all.findLastIndex((transfer) => transfer.from === seller && transfer.to === buyer);
  if (direct !== -1) return direct;
  const sent = all.findLastIndex((transfer) => transfer.from === seller);
  if (sent !== -1) return sent;
  const received = all.filter((transfer) => transfer.to === buyer && transfer.from !== ZERO_ADDRESS);
  return new Set(received.map((transfer) => transfer.from)).size === 1 && received[0] !== undefined
    ? all.indexOf(received[0])
    : -1;
}

function partyKey(item: TradedItem, party: Address): string {
  return `${tokenKey(item)}:${party}`;
}
