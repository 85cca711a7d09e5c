import { type Log, ZERO_ADDRESS } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace, type TradeTransaction } from '../marketplace.ts';
import { lowerCase, paymentToken } from '../traded-item.ts';
import { inWindow } from '../transaction-window.ts';

const INVENTORY_UPDATE = defineEvent(
  'event EvInventoryUpdate(uint256 indexed id, (address seller, address buyer, address currency, uint256 price, uint256 netPrice, uint256 deadline, uint8 kind, uint8 status) inventory)',
);

const STATUS_DONE = 1;
const KINDS = { buy: 2, auction: 3 } as const;

const PROTOCOL = 'tofu';
const CONTRACT = '0x7bc8b1b5aba4df3be9f9a32dae501214dc0e4f3f';

/** Events contain no tokens: they are those that moved for the inventory. */
export const tofu: Marketplace = {
  name: 'other',
  protocol: PROTOCOL,
  topics: [INVENTORY_UPDATE.topic],
  addresses: deployments(PROTOCOL, {
    1: CONTRACT,
    10: CONTRACT,
    56: '0x449d05c544601631785a7c062dcdff530330317e',
    137: CONTRACT,
    42161: CONTRACT,
  }),
  fills: (own, transaction) =>
    own.flatMap((log, index) => fillOf(log, own[index - 1] ?? null, own[index + 1] ?? null, transaction) ?? []),
};

function fillOf(log: Log, previous: Log | null, next: Log | null, transaction: TradeTransaction): Fill | null {
  const inventory = INVENTORY_UPDATE.read(log)?.inventory;
  if (inventory?.status !== STATUS_DONE) return null;
  const [seller, buyer] = [lowerCase(inventory.seller), lowerCase(inventory.buyer)];
  const isAuction = inventory.kind === KINDS.auction;
  // Sales and offers move (or mint) tokens before the event, auctions after it.
  const window = isAuction ? { after: log, before: next } : { after: previous, before: log };
  const giver = isAuction ? log.address : seller;
  const items = inWindow(transaction.transfers, window)
    .filter(({ from, to }) => to === buyer && (from === giver || from === ZERO_ADDRESS))
    .map(({ token, tokenId, amount }) => ({ token, tokenId, amount }));
  if (items.length === 0) return null;
  return {
    log,
    side: inventory.kind === KINDS.buy ? 1 : 0,
    seller,
    buyer,
    items,
    paymentToken: paymentToken(inventory.currency),
    price: inventory.price,
    ...(isAuction ? { partiesFinal: true } : {}),
  };
}
