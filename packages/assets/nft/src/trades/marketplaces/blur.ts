import type { Address, Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import type { NftTransfer } from '@chainstead/events/token-events';
import { deployments, type Fill, type Marketplace, type TradeTransaction } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';

const ORDER =
  '(address trader, uint8 side, address matchingPolicy, address collection, uint256 tokenId, uint256 amount, address paymentToken, uint256 price, uint256 listingTime, uint256 expirationTime, (uint16 rate, address recipient)[] fees, uint256 salt, bytes extraParams)';
const ORDERS_MATCHED = defineEvent(
  `event OrdersMatched(address indexed maker, address indexed taker, ${ORDER} sell, bytes32 sellHash, ${ORDER} buy, bytes32 buyHash)`,
);

/** For bids on any token of a collection, whose order has token id 0. */
const COLLECTION_BID_POLICY = '0x0000000000b92d5d043faf7cecf7e2ee6aaed232' as Address;

export const blurV1: Marketplace = {
  name: 'blur',
  protocol: 'blur-v1',
  topics: [ORDERS_MATCHED.topic],
  addresses: deployments('blur-v1', { 1: '0x000000000000ad05ccc4f10045630fb830b95127' }),
  fills: (own) => own.flatMap(fillOf),
};

function fillOf(log: Log): Fill | readonly Fill[] {
  const match = ORDERS_MATCHED.read(log);
  if (match === null) return [];
  const { sell, buy } = match;
  const isBid = lowerCase(sell.matchingPolicy) === COLLECTION_BID_POLICY || buy.listingTime < sell.listingTime;
  return {
    log,
    side: isBid ? 1 : 0,
    seller: lowerCase(sell.trader),
    buyer: lowerCase(buy.trader),
    items: [tradedItem(sell.collection, sell.tokenId, buy.amount === 0n ? 1n : buy.amount)],
    paymentToken: paymentToken(sell.paymentToken),
    price: buy.price,
  };
}

const TRANSFER = '(address trader, uint256 id, uint256 amount, address collection, uint8 assetType)';
const FEE = '(address recipient, uint16 rate)';
const EXECUTION = defineEvent(
  `event Execution(${TRANSFER} transfer, bytes32 orderHash, uint256 listingIndex, uint256 price, ${FEE} makerFee, (${FEE} protocolFee, ${FEE} takerFee) fees, uint8 orderType)`,
);
const PACKED = defineEvent(
  'event Execution721Packed(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide)',
);
const PACKED_TAKER_FEE = defineEvent(
  'event Execution721TakerFeePacked(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 takerFeeRecipientRate)',
);
const PACKED_MAKER_FEE = defineEvent(
  'event Execution721MakerFeePacked(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide, uint256 makerFeeRecipientRate)',
);

const BLUR_POOL = '0x0000000000a39bb272e79075ade125fd351887ac' as Address;

/** Events contain only the maker; the token transfer shows the taker. */
export const blurV2: Marketplace = {
  name: 'blur',
  protocol: 'blur-v2',
  topics: [EXECUTION, PACKED, PACKED_TAKER_FEE, PACKED_MAKER_FEE].map(({ topic }) => topic),
  addresses: deployments('blur-v2', { 1: '0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5' }),
  fills,
};

interface Execution {
  readonly maker: Address;
  readonly collection: Address;
  readonly tokenId: string;
  readonly amount: string;
  readonly price: bigint;
  readonly side: 0 | 1;
}

/** All transfers of a call come before its events: takes the first one left that fits. */
function fills(own: readonly Log[], { transfers }: TradeTransaction): Fill[] {
  const taken = new Set<NftTransfer>();
  return own.flatMap((log): Fill | readonly Fill[] => {
    const execution = executionOf(log);
    if (execution === null) return [];
    const transfer = transfers.find((candidate) => !taken.has(candidate) && delivers(candidate, execution));
    if (transfer === undefined) return [];
    taken.add(transfer);
    const { collection, tokenId, amount, price, side } = execution;
    const items = [{ token: collection, tokenId, amount }];
    return {
      log,
      side,
      seller: transfer.from,
      buyer: transfer.to,
      items,
      paymentToken: side === 1 ? BLUR_POOL : null,
      price,
    };
  });
}

function delivers(transfer: NftTransfer, { maker, collection, tokenId, amount, side }: Execution): boolean {
  return (
    transfer.token === collection &&
    transfer.tokenId === tokenId &&
    transfer.amount === amount &&
    transfer.lastTokenId === null &&
    (side === 0 ? transfer.from : transfer.to) === maker
  );
}

function executionOf(log: Log): Execution | null {
  const whole = EXECUTION.read(log);
  if (whole !== null) {
    const { trader, id, amount, collection } = whole.transfer;
    return execution(whole.orderType, {
      maker: lowerCase(trader),
      collection: lowerCase(collection),
      tokenId: id.toString(),
      amount: amount === 0n ? '1' : amount.toString(),
      price: whole.price,
    });
  }
  const packed = PACKED.read(log) ?? PACKED_TAKER_FEE.read(log) ?? PACKED_MAKER_FEE.read(log);
  if (packed === null) return null;
  // Bits from the highest: id 88, listing index 8, trader 160; type 8, price 88, collection 160.
  const { tokenIdListingIndexTrader: token, collectionPriceSide: terms } = packed;
  return execution(Number(terms >> 248n), {
    maker: addressIn(token),
    collection: addressIn(terms),
    tokenId: (token >> 168n).toString(),
    amount: '1',
    price: (terms >> 160n) & MASK_88,
  });
}

const MASK_88 = (1n << 88n) - 1n;
const MASK_160 = (1n << 160n) - 1n;

function execution(orderType: number, terms: Omit<Execution, 'side'>): Execution | null {
  return orderType === 0 || orderType === 1 ? { ...terms, side: orderType } : null;
}

function addressIn(word: bigint): Address {
  return `0x${(word & MASK_160).toString(16).padStart(40, '0')}` as Address;
}
