/** Events of LooksRare, X2Y2, 0x, Blur v2, and CryptoPunks' own market, for tests, as their contracts declare them. */

import { encodeAbiParameters, encodePacked, parseAbiParameters, zeroAddress } from 'viem';
import {
  buyer,
  cats,
  emitter,
  feeWallet,
  HASH,
  NATIVE_CURRENCY,
  other,
  prints,
  seller,
  weth,
} from './example-sale.ts';

const LOOKSRARE_V1 = '0x59728544b08ab483533076417fbbb2fd0b17ce3a';
const JOEPEGS = '0xae079eda901f7727d0715aff8f82ba8295719977';
const V1 =
  '(bytes32 orderHash, uint256 orderNonce, address indexed taker, address indexed maker, address indexed strategy, address currency, address collection, uint256 tokenId, uint256 amount, uint256 price)';
const LOOKSRARE_V2 = '0x0000000000e655fae4d56241588680f86e3b2377';
const V2 =
  'uint256 strategyId, address currency, address collection, uint256[] itemIds, uint256[] amounts, address[2] feeRecipients, uint256[3] feeAmounts)';
const X2Y2 = '0x74312363e45dcaba76c59ec49a7aa8a65a67eed3';
const ZEROEX = '0xdef1c0ded9bec7f1a1670819833240f027b25eff';
const BLUR_V2 = '0xb2ecfe4e4d61f8790bbb9de2d1259b9e2410cea5';
export const PUNKS = '0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb';
const OPENSEA_POLYGON = '0xfede379e48c873c75f3cc0c81f7c784ad730a8f7';
const OTHER_ZEROEX_V3 = '0x0c58c1170f1ded633862a1166f52107490a9c594';

export const takerBidV1 = emitter(LOOKSRARE_V1, `event TakerBid${V1}`);
export const takerAskV1 = emitter(LOOKSRARE_V1, `event TakerAsk${V1}`);
export const joepegsAsk = emitter(JOEPEGS, `event TakerAsk${V1}`);
export const joepegsBid = emitter(JOEPEGS, `event TakerBid${V1}`);
export const takerBidV2 = emitter(LOOKSRARE_V2, [
  `event TakerBid(Nonce nonce, address bidUser, address bidRecipient, ${V2}`,
  'struct Nonce { bytes32 orderHash; uint256 orderNonce; bool isNonceInvalidated; }',
]);
export const takerAskV2 = emitter(LOOKSRARE_V2, [
  `event TakerAsk(Nonce nonce, address askUser, address bidUser, ${V2}`,
  'struct Nonce { bytes32 orderHash; uint256 orderNonce; bool isNonceInvalidated; }',
]);
const inventory = emitter(X2Y2, [
  'event EvInventory(bytes32 indexed itemHash, address maker, address taker, uint256 orderSalt, uint256 settleSalt, uint256 intent, uint256 delegateType, uint256 deadline, address currency, bytes dataMask, Item item, Detail detail)',
  'struct Item { uint256 price; bytes data; }',
  'struct Detail { uint8 op; uint256 orderIdx; uint256 itemIdx; uint256 price; bytes32 itemHash; address executionDelegate; bytes dataReplacement; uint256 bidIncentivePct; uint256 aucMinIncrementPct; uint256 aucIncDurationSecs; Fee[] fees; }',
  'struct Fee { uint256 percentage; address to; }',
]);
const profit = emitter(X2Y2, 'event EvProfit(bytes32 itemHash, address currency, address to, uint256 amount)');
export const erc721Filled = emitter(
  ZEROEX,
  'event ERC721OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, address erc721Token, uint256 erc721TokenId, address matcher)',
);
export const erc1155Filled = emitter(
  ZEROEX,
  'event ERC1155OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20FillAmount, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount, address matcher)',
);
const FILL =
  'event Fill(address indexed makerAddress, address indexed feeRecipientAddress, bytes makerAssetData, bytes takerAssetData, bytes makerFeeAssetData, bytes takerFeeAssetData, bytes32 indexed orderHash, address takerAddress, address senderAddress, uint256 makerAssetFilledAmount, uint256 takerAssetFilledAmount, uint256 makerFeePaid, uint256 takerFeePaid, uint256 protocolFeePaid)';
export const openSeaFill = emitter(OPENSEA_POLYGON, FILL);
export const otherFill = emitter(OTHER_ZEROEX_V3, FILL);
export const blurPacked = emitter(
  BLUR_V2,
  'event Execution721Packed(bytes32 orderHash, uint256 tokenIdListingIndexTrader, uint256 collectionPriceSide)',
);
export const punkBought = emitter(
  PUNKS,
  'event PunkBought(uint256 indexed punkIndex, uint256 value, address indexed fromAddress, address indexed toAddress)',
);
export const punkMoved = emitter(
  PUNKS,
  'event Transfer(address indexed from, address indexed to, uint256 value)',
);

/** The terms that all orders of LooksRare v1 share. */
export const orderV1 = {
  orderHash: HASH,
  orderNonce: 1n,
  strategy: other,
  currency: weth,
  collection: cats,
  tokenId: 7n,
  amount: 1n,
  price: 1_000n,
};
export const orderV2 = {
  nonce: { orderHash: HASH, orderNonce: 1n, isNonceInvalidated: true },
  strategyId: 0n,
  currency: NATIVE_CURRENCY,
  collection: cats,
  itemIds: [7n],
  amounts: [1n],
  feeAmounts: [965n, 30n, 5n],
};

export const x2y2Items = (...items: readonly { token: string; tokenId: bigint }[]) =>
  encodeAbiParameters(parseAbiParameters('(address token, uint256 tokenId)[]'), [
    items.map((item) => ({ token: item.token as `0x${string}`, tokenId: item.tokenId })),
  ]);

export interface X2Y2Terms {
  readonly op: number;
  readonly intent: bigint;
  readonly maker: string;
  readonly taker: string;
  readonly price?: bigint;
  readonly data?: `0x${string}`;
  readonly delegateType?: bigint;
  readonly currency?: string;
  readonly fees?: readonly { percentage: bigint; to: string }[];
}

export function x2y2Inventory(terms: X2Y2Terms) {
  const { price = 1_000n, fees = [{ percentage: 5_000n, to: feeWallet }] } = terms;
  return inventory({
    itemHash: HASH,
    maker: terms.maker,
    taker: terms.taker,
    orderSalt: 1n,
    settleSalt: 2n,
    intent: terms.intent,
    delegateType: terms.delegateType ?? 1n,
    deadline: 3n,
    currency: terms.currency ?? NATIVE_CURRENCY,
    dataMask: '0x',
    item: { price: 1n, data: terms.data ?? x2y2Items({ token: cats, tokenId: 7n }) },
    detail: {
      op: terms.op,
      orderIdx: 0n,
      itemIdx: 0n,
      price,
      itemHash: HASH,
      executionDelegate: other,
      dataReplacement: '0x',
      bidIncentivePct: 0n,
      aucMinIncrementPct: 0n,
      aucIncDurationSecs: 0n,
      fees,
    },
  });
}

export const x2y2Profit = (amount: bigint, to: string = seller) =>
  profit({ itemHash: HASH, currency: NATIVE_CURRENCY, to, amount });

/** Terms of 0x v4's events; the fields of both standards. */
export const order0x = {
  direction: 0,
  maker: seller,
  taker: buyer,
  nonce: 1n,
  erc20Token: `0x${'e'.repeat(40)}`,
  erc20TokenAmount: 1_000n,
  erc20FillAmount: 1_000n,
  erc721Token: cats,
  erc721TokenId: 7n,
  erc1155Token: prints,
  erc1155TokenId: 9n,
  erc1155FillAmount: 3n,
  matcher: zeroAddress,
};

export const catAsset = encodePacked(
  ['bytes4', 'bytes'],
  ['0x02571792', encodeAbiParameters(parseAbiParameters('address, uint256'), [cats, 7n])],
);
export const wethAsset = encodePacked(
  ['bytes4', 'bytes'],
  ['0xf47261b0', encodeAbiParameters(parseAbiParameters('address'), [weth])],
);
const fillTerms = {
  feeRecipientAddress: feeWallet,
  makerFeeAssetData: wethAsset,
  takerFeeAssetData: '0x',
  orderHash: HASH,
  takerAddress: other,
  senderAddress: other,
  makerFeePaid: 0n,
  takerFeePaid: 0n,
  protocolFeePaid: 63n,
};
/** The two sides of `matchOrders`; the seller's fee is deducted from the price afterwards. */
export const sellFill = {
  ...fillTerms,
  makerAddress: seller,
  makerAssetData: catAsset,
  takerAssetData: wethAsset,
  makerAssetFilledAmount: 1n,
  takerAssetFilledAmount: 1_000n,
  makerFeePaid: 25n,
};
export const buyFill = {
  ...fillTerms,
  makerAddress: buyer,
  makerAssetData: wethAsset,
  takerAssetData: catAsset,
  makerAssetFilledAmount: 1_000n,
  takerAssetFilledAmount: 1n,
};
