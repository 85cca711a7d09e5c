import { type Address, type Log, ZERO_ADDRESS, ZERO_HASH } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import {
  NFT_TRANSFER_KINDS,
  type NftTransfer,
  nftTransferTopics,
  TRANSFER_TOPIC,
} from '@chainstead/events/token-events';
import {
  deployments,
  type Fill,
  type Marketplace,
  type TradedItem,
  type TradeSide,
  type TradeTransaction,
} from '../marketplace.ts';
import { lowerCase } from '../traded-item.ts';
import { tokenKey } from '../transfers-by-token.ts';

const ORDERS_MATCHED = defineEvent(
  'event OrdersMatched(bytes32 buyHash, bytes32 sellHash, address indexed maker, address indexed taker, uint256 price, bytes32 indexed metadata)',
);

export const wyvernMarketplaces: readonly Marketplace[] = [
  wyvern('wyvern-2.2', '0x7be8076f4ea4a4ad08075c2508e481d6c946d12b'),
  wyvern('wyvern-2.3', '0x7f268357a8c2552623316e2562d90e642bb538e5'),
];

function wyvern(protocol: string, address: string): Marketplace {
  return {
    name: 'opensea',
    protocol,
    topics: [ORDERS_MATCHED.topic],
    addresses: deployments(protocol, { 1: address }),
    fills: (own, transaction) => own.flatMap((log) => fillOf(log, transaction)),
  };
}

type Window = Pick<TradeTransaction, 'transfers' | 'payments'>;

function fillOf(log: Log, transaction: TradeTransaction): Fill[] {
  const match = ORDERS_MATCHED.read(log);
  if (match === null) return [];
  const window = windowBefore(log, transaction);
  const side = sideOf(match.buyHash, match.sellHash);
  const maker = lowerCase(match.maker);
  const taker = lowerCase(match.taker);
  // With two signed orders, the seller is the party that gave something away.
  const makerSells = side === 2 ? window.transfers.some((transfer) => transfer.from === maker) : side === 0;
  const [seller, eventBuyer] = makerSells ? [maker, taker] : [taker, maker];
  const sold = soldIn(window, seller, eventBuyer);
  const last = sold.at(-1);
  if (last === undefined) return [];
  // An aggregator may be the taker although the token goes straight to its user.
  const buyer = sold.some((transfer) => transfer.to === eventBuyer) ? eventBuyer : last.to;
  // The buyer pays the seller the whole price. No such transfer: the native token.
  const paid = window.payments.filter(({ from, to }) => to === seller && (from === eventBuyer || from === buyer));
  const paymentToken = (paid.find(({ value }) => value === match.price) ?? paid[0])?.token ?? null;
  return [{ log, side, seller, buyer, items: itemsOf(sold), paymentToken, price: match.price }];
}

/** Zero for the order whose maker sent the transaction. Both set: a third party matched them. */
function sideOf(buyHash: string, sellHash: string): TradeSide {
  if (sellHash === ZERO_HASH) return 1;
  return buyHash === ZERO_HASH ? 0 : 2;
}

/** Since the previous fill: payment and tokens come right before the event. */
function windowBefore(log: Log, { chain, logs, transfers, payments }: TradeTransaction): Window {
  const transferTopics = new Set([...nftTransferTopics(chain), TRANSFER_TOPIC]);
  const isFill = ({ topics: [topic0] }: Log): boolean => topic0 !== undefined && !transferTopics.has(topic0);
  const fillBefore = logs.findLast((one) => one.logIndex < log.logIndex && isFill(one));
  const inside = (one: { readonly log: Log }): boolean =>
    one.log.logIndex < log.logIndex && one.log.logIndex > (fillBefore?.logIndex ?? -1);
  return { transfers: transfers.filter(inside), payments: payments.filter(inside) };
}

/** From the seller; else mints for the buyer (shared storefront); else the buyer's receipts. */
function soldIn({ transfers }: Window, seller: Address, buyer: Address): readonly NftTransfer[] {
  const given = transfers.filter((transfer) => transfer.from === seller && transfer.lastTokenId === null);
  if (given.length > 0) return given;
  const minted = transfers.filter((transfer) => transfer.from === ZERO_ADDRESS && transfer.lastTokenId === null);
  if (minted.length > 0) return minted;
  return transfers.filter((transfer) => transfer.to === buyer && transfer.lastTokenId === null);
}

/** An indivisible token counts once, however often it moved on. */
function itemsOf(sold: readonly NftTransfer[]): TradedItem[] {
  const seen = new Set<string>();
  return sold.flatMap((transfer): TradedItem[] => {
    const { token, tokenId, amount, kind } = transfer;
    const divisible = kind === NFT_TRANSFER_KINDS.erc1155Single || kind === NFT_TRANSFER_KINDS.erc1155Batch;
    if (!divisible && seen.has(tokenKey(transfer))) return [];
    seen.add(tokenKey(transfer));
    return [{ token, tokenId, amount }];
  });
}
