import { type Address, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { decodeAbi } from '@chainstead/events/abi';
import { defineEvent } from '@chainstead/events/decoding';
import type { NftTransfer } from '@chainstead/events/token-events';
import { parseAbiParameters } from 'abitype';
import {
  deployments,
  type Fill,
  type Marketplace,
  type TradedItem,
  type TradeTransaction,
} from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';
import { inWindow } from '../transaction-window.ts';

const DETAIL =
  '(uint8 op, uint256 orderIdx, uint256 itemIdx, uint256 price, bytes32 itemHash, address executionDelegate, bytes dataReplacement, uint256 bidIncentivePct, uint256 aucMinIncrementPct, uint256 aucIncDurationSecs, (uint256 percentage, address to)[] fees)';
const INVENTORY = defineEvent(
  `event EvInventory(bytes32 indexed itemHash, address maker, address taker, uint256 orderSalt, uint256 settleSalt, uint256 intent, uint256 delegateType, uint256 deadline, address currency, bytes dataMask, (uint256 price, bytes data) item, ${DETAIL} detail)`,
);
const PROFIT = defineEvent('event EvProfit(bytes32 itemHash, address currency, address to, uint256 amount)');

type Inventory = NonNullable<ReturnType<typeof INVENTORY.read>>;
type Profit = NonNullable<ReturnType<typeof PROFIT.read>>;

/** Bids, refunds and cancellations emit the same event. */
const OPERATIONS = { sellOrderCompleted: 1, buyOfferCompleted: 2, auctionCompleted: 5 } as const;
const DELEGATES = { erc721: 1n, erc1155: 2n } as const;
const ERC721_ITEMS = parseAbiParameters('(address token, uint256 tokenId)[]');
const ERC1155_ITEMS = parseAbiParameters('(address token, uint256 tokenId, uint256 amount)[]');
const PERCENTAGE_BASE = 1_000_000n;

const PROTOCOL = 'x2y2-r1';

export const x2y2: Marketplace = {
  name: 'x2y2',
  protocol: PROTOCOL,
  topics: [INVENTORY, PROFIT].map(({ topic }) => topic),
  addresses: deployments(PROTOCOL, { 1: '0x74312363e45dcaba76c59ec49a7aa8a65a67eed3' }),
  fills,
};

function fills(own: readonly Log[], transaction: TradeTransaction): Fill[] {
  const found: Fill[] = [];
  let previous: Log | null = null;
  let profits: Profit[] = [];
  for (const log of own) {
    const profit = PROFIT.read(log);
    if (profit !== null) {
      profits.push(profit);
      continue;
    }
    const inventory = INVENTORY.read(log);
    if (inventory !== null) {
      const moved = inWindow(transaction.transfers, { after: previous, before: log });
      const fill = fillOf(log, inventory, moved, profits);
      if (fill !== null) found.push(fill);
    }
    previous = log;
    profits = [];
  }
  return found;
}

function fillOf(
  log: Log,
  inventory: Inventory,
  moved: readonly NftTransfer[],
  profits: readonly Profit[],
): Fill | null {
  const { op, price } = inventory.detail;
  const maker = lowerCase(inventory.maker);
  const taker = lowerCase(inventory.taker);
  const paid = { log, paymentToken: paymentToken(inventory.currency) };
  switch (op) {
    case OPERATIONS.sellOrderCompleted:
      return sale({
        ...paid,
        side: 0,
        seller: maker,
        buyer: taker,
        items: itemsOf(inventory, moved, maker),
        price,
      });
    case OPERATIONS.buyOfferCompleted:
      return sale({
        ...paid,
        side: 1,
        seller: taker,
        buyer: maker,
        items: itemsOf(inventory, moved, taker),
        price,
      });
    case OPERATIONS.auctionCompleted: {
      // The taker is the settling account, and the delegate holds the items until then.
      const items = itemsOf(inventory, moved, null);
      const isSold = (token: Address, id: string) =>
        items.some((item) => item.token === token && item.tokenId === id);
      const buyer = moved.findLast(({ token, tokenId }) => isSold(token, tokenId))?.to;
      const bid = auctionPrice(inventory, profits);
      if (buyer === undefined || bid === null) return null;
      return sale({ ...paid, side: 0, seller: maker, buyer, items, price: bid, partiesFinal: true });
    }
    default:
      return null;
  }
}

function sale(fill: Fill): Fill | null {
  return fill.items.length === 0 ? null : fill;
}

/** From the order's data, else those that moved from the seller (null: any account). */
function itemsOf(
  inventory: Inventory,
  moved: readonly NftTransfer[],
  seller: Address | null,
): readonly TradedItem[] {
  const listed = readItems(inventory.delegateType, inventory.item.data);
  if (listed !== null && listed.length > 0) return listed;
  return moved
    .filter(({ from }) => from !== ZERO_ADDRESS && (seller ?? from) === from)
    .map(({ token, tokenId, amount }) => ({ token, tokenId, amount }));
}

function readItems(delegateType: bigint, data: Hex): readonly TradedItem[] | null {
  try {
    switch (delegateType) {
      case DELEGATES.erc721:
        return decodeAbi(ERC721_ITEMS, data)[0].map((item) => tradedItem(item.token, item.tokenId));
      case DELEGATES.erc1155:
        return decodeAbi(ERC1155_ITEMS, data)[0].map((item) => tradedItem(item.token, item.tokenId, item.amount));
      default:
        return null;
    }
  } catch {
    return null;
  }
}

/** From the seller's proceeds and the fees. Each was rounded down: the highest that fits. */
function auctionPrice({ itemHash, detail }: Inventory, profits: readonly Profit[]): bigint | null {
  const profit = profits.findLast((event) => event.itemHash === itemHash)?.amount;
  const share = PERCENTAGE_BASE - detail.fees.reduce((sum, fee) => sum + fee.percentage, 0n);
  if (profit === undefined || share <= 0n) return null;
  const left = (price: bigint): bigint =>
    detail.fees.reduce((rest, fee) => rest - (price * fee.percentage) / PERCENTAGE_BASE, price);
  let price = (profit * PERCENTAGE_BASE) / share;
  for (let step = 0; step < detail.fees.length && left(price) > profit; step++) price -= 1n;
  return price;
}
