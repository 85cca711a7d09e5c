/**
 * Events of Foundation, SuperRare, Zora, Rarible, Element, Payment Processor, Treasure, tofuNFT and PancakeSwap, for
 * tests.
 */

import { encodeAbiParameters, parseAbiParameters } from 'viem';
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

export const FOUNDATION = '0xcda72070e455bb31c7690a170224ce43623d0b6f';
const FOUNDATION_PARTS = 'uint256 protocolFee, uint256 creatorFee, uint256 sellerRev';
export const SUPERRARE = '0x65b49f7aee40347f5a90b714be4ef086f3fe5e2c';
const BAZAAR = '0x6d7c44773c52d396f43c2d511b81aa168e9a7a42';
const RARIBLE_V1 = '0xcd4ec7b66fbc029c116ba9ffb3e59351c20b5b06';
const RARIBLE_V2 = '0x9757f2d2b135150bbeb65308d4a91804107cd8d6';
const ELEMENT = '0x20f780a973856b93f63670377900c1d2a50a77c4';
const PROCESSOR_V1 = '0x009a1dc9f1a6e2134ad4236fcd75b1ae62858507';
const PROCESSOR_V2 = '0x9a1d00bed7cd04bcda516d721a596eb22aac6834';
const PROCESSOR_V3 = '0x9a1d00000000fc540e2000560054812452eb5366';
const TREASURE = '0x09986b4e255b3c548041a30a2ee312fe176731c2';
export const TOFU = '0x7bc8b1b5aba4df3be9f9a32dae501214dc0e4f3f';
export const PANCAKE = '0x17539cca21c7933df5c980172d22659b8c345c5a';

export const buyPriceAccepted = emitter(
  FOUNDATION,
  `event BuyPriceAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, ${FOUNDATION_PARTS})`,
);
export const offerAccepted = emitter(
  FOUNDATION,
  `event OfferAccepted(address indexed nftContract, uint256 indexed tokenId, address indexed buyer, address seller, ${FOUNDATION_PARTS})`,
);
export const privateSaleFinalized = emitter(
  FOUNDATION,
  `event PrivateSaleFinalized(address indexed nftContract, uint256 indexed tokenId, address indexed seller, address buyer, ${FOUNDATION_PARTS}, uint256 deadline)`,
);
export const auctionFinalized = emitter(
  FOUNDATION,
  `event ReserveAuctionFinalized(uint256 indexed auctionId, address indexed seller, address indexed bidder, ${FOUNDATION_PARTS})`,
);
export const parts = { protocolFee: 50n, creatorFee: 100n, sellerRev: 850n };

const SOLD = 'address indexed origin, address indexed buyer, address indexed seller';
const BID = 'address indexed origin, address indexed bidder, address indexed seller';
export const sold = emitter(SUPERRARE, `event Sold(${SOLD}, uint256 amount, uint256 tokenId)`);
export const bidAccepted = emitter(SUPERRARE, `event AcceptBid(${BID}, uint256 amount, uint256 tokenId)`);
export const bazaarSold = emitter(
  BAZAAR,
  `event Sold(${SOLD}, address currency, uint256 amount, uint256 tokenId)`,
);
export const bazaarOffer = emitter(
  BAZAAR,
  `event AcceptOffer(${BID}, address currency, uint256 amount, uint256 tokenId, address[] splits, uint8[] ratios)`,
);
export const auctionSettled = emitter(
  BAZAAR,
  'event AuctionSettled(address indexed origin, address indexed bidder, address seller, uint256 indexed tokenId, address currency, uint256 amount)',
);
export const artwork = { origin: cats, buyer, bidder: buyer, seller, amount: 1_000n, tokenId: 7n };

export const askFilled = emitter('0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3', [
  'event AskFilled(address indexed tokenContract, uint256 indexed tokenId, address indexed buyer, address finder, Ask ask)',
  'struct Ask { address seller; address sellerFundsRecipient; address askCurrency; uint16 findersFeeBps; uint256 askPrice; }',
]);
export const exchangeExecuted = emitter('0x6170b3c3a54c3d8c854934cbc314ed479b2b29a3', [
  'event ExchangeExecuted(address indexed userA, address indexed userB, Details a, Details b)',
  'struct Details { address tokenContract; uint256 tokenId; uint256 amount; }',
]);
export const auctionEnded = emitter(
  '0xe468ce99444174bd3bbbed09209577d25d1ad673',
  'event AuctionEnded(uint256 indexed auctionId, uint256 indexed tokenId, address indexed tokenContract, address tokenOwner, address curator, address winner, uint256 amount, uint256 curatorFee, address auctionCurrency)',
);

export const raribleBuy = emitter(
  RARIBLE_V1,
  'event Buy(address indexed sellToken, uint256 indexed sellTokenId, uint256 sellValue, address owner, address buyToken, uint256 buyTokenId, uint256 buyValue, address buyer, uint256 amount, uint256 salt)',
);
export const raribleMatch = emitter(RARIBLE_V2, [
  'event Match(bytes32 leftHash, bytes32 rightHash, address leftMaker, address rightMaker, uint256 newLeftFill, uint256 newRightFill, AssetType leftAsset, AssetType rightAsset)',
  'struct AssetType { bytes4 assetClass; bytes data; }',
]);
export const raribleBareMatch = emitter(
  RARIBLE_V2,
  'event Match(bytes32 leftHash, bytes32 rightHash, uint256 newLeftFill, uint256 newRightFill)',
);
export const hashes = { leftHash: HASH, rightHash: HASH };
export const assets = {
  cat: {
    assetClass: '0x73ad2146',
    data: encodeAbiParameters(parseAbiParameters('address, uint256'), [cats, 7n]),
  },
  print: {
    assetClass: '0x973bb640',
    data: encodeAbiParameters(parseAbiParameters('address, uint256'), [prints, 9n]),
  },
  native: { assetClass: '0xaaaebeba', data: '0x' },
  weth: { assetClass: '0x8ae85d84', data: encodeAbiParameters(parseAbiParameters('address'), [weth]) },
};

const V1_ORDER =
  'address maker, address taker, address erc20Token, uint256 amount, address token, uint256 tokenId';
const V2_ORDER =
  'bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 amount, Fee[] fees, address token, uint256 tokenId';
const FEE = 'struct Fee { address recipient; uint256 amount; }';
export const elementV1 = {
  erc721Sell: emitter(ELEMENT, `event ERC721SellOrderFilled(${V1_ORDER}, bytes32 orderHash)`),
  erc721Buy: emitter(ELEMENT, `event ERC721BuyOrderFilled(${V1_ORDER}, bytes32 orderHash)`),
  erc1155Sell: emitter(ELEMENT, `event ERC1155SellOrderFilled(${V1_ORDER}, uint128 filled, bytes32 orderHash)`),
  erc1155Buy: emitter(ELEMENT, `event ERC1155BuyOrderFilled(${V1_ORDER}, uint128 filled, bytes32 orderHash)`),
};
export const elementV2 = {
  erc721Sell: emitter(ELEMENT, [`event ERC721SellOrderFilled(${V2_ORDER})`, FEE]),
  erc721Buy: emitter(ELEMENT, [`event ERC721BuyOrderFilled(${V2_ORDER})`, FEE]),
  erc1155Sell: emitter(ELEMENT, [`event ERC1155SellOrderFilled(${V2_ORDER}, uint128 filled)`, FEE]),
  erc1155Buy: emitter(ELEMENT, [`event ERC1155BuyOrderFilled(${V2_ORDER}, uint128 filled)`, FEE]),
};
/** Terms of Element's events, of a sell order and of a buy order. */
export const elementSell = {
  orderHash: HASH,
  maker: seller,
  taker: buyer,
  nonce: 1n,
  erc20Token: NATIVE_CURRENCY,
  amount: 1_000n,
  fees: [{ recipient: feeWallet, amount: 50n }],
  token: cats,
  tokenId: 7n,
  filled: 3n,
};
export const elementBuy = { ...elementSell, maker: buyer, taker: seller, erc20Token: weth };

const SALE_V1 =
  'address indexed marketplace, address indexed tokenAddress, address indexed paymentCoin, address buyer';
export const singleBought = emitter(
  PROCESSOR_V1,
  `event BuySingleListing(${SALE_V1}, address seller, uint256 tokenId, uint256 amount, uint256 salePrice)`,
);
export const bundleBought = emitter(
  PROCESSOR_V1,
  `event BuyBundledListingERC721(${SALE_V1}, address seller, bool[] unsuccessfulFills, uint256[] tokenIds, uint256[] salePrices)`,
);
export const printsBundleBought = emitter(
  PROCESSOR_V1,
  `event BuyBundledListingERC1155(${SALE_V1}, address seller, bool[] unsuccessfulFills, uint256[] tokenIds, uint256[] amounts, uint256[] salePrices)`,
);
export const swept = emitter(
  PROCESSOR_V1,
  `event SweepCollectionERC721(${SALE_V1}, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] salePrices)`,
);
export const printsSwept = emitter(
  PROCESSOR_V1,
  `event SweepCollectionERC1155(${SALE_V1}, bool[] unsuccessfulFills, address[] sellers, uint256[] tokenIds, uint256[] amounts, uint256[] salePrices)`,
);
export const saleV1 = { marketplace: other, tokenAddress: cats, paymentCoin: NATIVE_CURRENCY, buyer, seller };
const LISTING =
  'address indexed buyer, address indexed seller, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId';
const OFFER =
  'address indexed seller, address indexed buyer, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId';
const processor = ([contract, protocol]: readonly [string, string]) => ({
  protocol,
  listing: emitter(contract, `event BuyListingERC721(${LISTING}, uint256 salePrice)`),
  printsListing: emitter(contract, `event BuyListingERC1155(${LISTING}, uint256 amount, uint256 salePrice)`),
  offer: emitter(contract, `event AcceptOfferERC721(${OFFER}, uint256 salePrice)`),
  printsOffer: emitter(contract, `event AcceptOfferERC1155(${OFFER}, uint256 amount, uint256 salePrice)`),
});
export const processors = (
  [
    [PROCESSOR_V2, 'payment-processor-v2'],
    [PROCESSOR_V3, 'payment-processor-v3'],
  ] as const
).map(processor);
export const saleV2 = {
  buyer,
  seller,
  tokenAddress: cats,
  beneficiary: buyer,
  paymentCoin: NATIVE_CURRENCY,
  tokenId: 7n,
  amount: 3n,
  salePrice: 1_000n,
};

const ITEM = 'address nftAddress, uint256 tokenId, uint64 quantity, uint128 pricePerItem, address paymentToken';
export const itemSold = emitter(TREASURE, `event ItemSold(address seller, address buyer, ${ITEM})`);
export const treasureBid = emitter(
  TREASURE,
  `event BidAccepted(address seller, address bidder, ${ITEM}, uint8 bidType)`,
);
export const treasureItem = {
  seller,
  buyer,
  bidder: buyer,
  nftAddress: prints,
  tokenId: 9n,
  quantity: 4n,
  pricePerItem: 250n,
  paymentToken: weth,
  bidType: 0,
};
export const tofuUpdate = emitter(TOFU, [
  'event EvInventoryUpdate(uint256 indexed id, Inventory inventory)',
  'struct Inventory { address seller; address buyer; address currency; uint256 price; uint256 netPrice; uint256 deadline; uint8 kind; uint8 status; }',
]);
export const tofuSale = {
  seller,
  buyer,
  currency: NATIVE_CURRENCY,
  price: 1_000n,
  netPrice: 900n,
  deadline: 0n,
  kind: 1,
  status: 1,
};
export const pancakeTrade = emitter(
  PANCAKE,
  'event Trade(address indexed collection, uint256 indexed tokenId, address indexed seller, address buyer, uint256 askPrice, uint256 netPrice, bool withBNB)',
);
