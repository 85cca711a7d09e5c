import type { Chain } from '@chainstead/chains';
import { type Hex, type Log, parseAddress } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import {
  deployments,
  type Fill,
  type Marketplace,
  type TradedItem,
  type TradeTransaction,
} from '../marketplace.ts';
import { lowerCase } from '../traded-item.ts';
import { areAdjacent } from '../transaction-window.ts';
import { readAssetData } from '../zero-ex-asset-data.ts';

const FILL = defineEvent(
  'event Fill(address indexed makerAddress, address indexed feeRecipientAddress, bytes makerAssetData, bytes takerAssetData, bytes makerFeeAssetData, bytes takerFeeAssetData, bytes32 indexed orderHash, address takerAddress, address senderAddress, uint256 makerAssetFilledAmount, uint256 takerAssetFilledAmount, uint256 makerFeePaid, uint256 takerFeePaid, uint256 protocolFeePaid)',
);

type FillArguments = NonNullable<ReturnType<typeof FILL.read>>;

const PROTOCOL = '0x-v3';
const OPENSEA_ON_POLYGON = parseAddress('0xfede379e48c873c75f3cc0c81f7c784ad730a8f7');

/** Before Seaport, with the code of 0x v3. Trackers count it as OpenSea. */
export const openSeaOnPolygon: Marketplace = {
  name: 'opensea',
  protocol: PROTOCOL,
  topics: [FILL.topic],
  addresses: (chain: Chain) => (chain.id === 137 ? [OPENSEA_ON_POLYGON] : []),
  fills,
};

export const zeroExV3: Marketplace = {
  name: '0xprotocol',
  protocol: PROTOCOL,
  topics: [FILL.topic],
  addresses: deployments(PROTOCOL, { 137: '0x0c58c1170f1ded633862a1166f52107490a9c594' }),
  fills,
};

interface FilledOrder {
  readonly log: Log;
  readonly event: FillArguments;
  readonly makerSells: boolean;
  readonly items: readonly TradedItem[];
  readonly token: `0x${string}`;
  readonly price: bigint;
}

/**
 * `matchOrders` emits adjacent fills: one trade, by the selling order. The other's maker is the
 * buyer. Protocol fees are not part of the price.
 */
function fills(own: readonly Log[], transaction: TradeTransaction): Fill[] {
  const orders = own.map(readOrder);
  const found: Fill[] = [];
  for (let place = 0; place < orders.length; place++) {
    const order = orders[place] ?? null;
    if (order === null) continue;
    const next = orders[place + 1] ?? null;
    if (next !== null && areMatched(order, next, transaction)) {
      place++;
      const [sell, buy] = order.makerSells ? [order, next] : [next, order];
      found.push(fillOf(sell, 2, sell.event.makerAddress, buy.event.makerAddress, buy.price));
    } else if (order.makerSells) {
      found.push(fillOf(order, 0, order.event.makerAddress, order.event.takerAddress, order.price));
    } else {
      found.push(fillOf(order, 1, order.event.takerAddress, order.event.makerAddress, order.price));
    }
  }
  return found;
}

function fillOf(order: FilledOrder, side: 0 | 1 | 2, seller: Hex, buyer: Hex, price: bigint): Fill {
  return {
    log: order.log,
    side,
    seller: lowerCase(seller),
    buyer: lowerCase(buyer),
    items: order.items,
    paymentToken: lowerCase(order.token),
    price,
  };
}

/** A match emits both fills before anything moves; otherwise transfers lie between them. */
function areMatched(one: FilledOrder, other: FilledOrder, transaction: TradeTransaction): boolean {
  return (
    areAdjacent(one.log, other.log, transaction) &&
    one.event.makerAssetData === other.event.takerAssetData &&
    one.event.takerAssetData === other.event.makerAssetData &&
    one.event.takerAddress === other.event.takerAddress
  );
}

function readOrder(log: Log): FilledOrder | null {
  const event = FILL.read(log);
  if (event === null) return null;
  const { makerAssetFilledAmount: given, takerAssetFilledAmount: taken } = event;
  const makerAsset = readAssetData(event.makerAssetData, given);
  const takerAsset = readAssetData(event.takerAssetData, taken);
  const makerSells = makerAsset?.kind === 'nfts';
  const [nfts, money] = makerSells ? [makerAsset, takerAsset] : [takerAsset, makerAsset];
  if (nfts?.kind !== 'nfts' || money?.kind !== 'erc20') return null;
  const [amount, feeData, feePaid] = makerSells
    ? [taken, event.takerFeeAssetData, event.takerFeePaid]
    : [given, event.makerFeeAssetData, event.makerFeePaid];
  const feeAsset = readAssetData(feeData, feePaid);
  const fee = feeAsset?.kind === 'erc20' && feeAsset.token === money.token ? feePaid : 0n;
  return { log, event, makerSells, items: nfts.items, token: money.token, price: amount + fee };
}
