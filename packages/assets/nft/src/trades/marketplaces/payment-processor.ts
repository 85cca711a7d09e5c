import { type Log, ZERO_ADDRESS } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Fill, type Marketplace } from '../marketplace.ts';
import { lowerCase, paymentToken, tradedItem } from '../traded-item.ts';

const TOKEN = 'address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId';
const LISTING = 'address indexed buyer, address indexed seller';
const LISTING_ERC721 = defineEvent(`event BuyListingERC721(${LISTING}, ${TOKEN}, uint256 salePrice)`);
const LISTING_ERC1155 = defineEvent(
  `event BuyListingERC1155(${LISTING}, ${TOKEN}, uint256 amount, uint256 salePrice)`,
);
/** Seller and buyer are in the opposite order here. */
const OFFER = 'address indexed seller, address indexed buyer';
const OFFER_ERC721 = defineEvent(`event AcceptOfferERC721(${OFFER}, ${TOKEN}, uint256 salePrice)`);
const OFFER_ERC1155 = defineEvent(
  `event AcceptOfferERC1155(${OFFER}, ${TOKEN}, uint256 amount, uint256 salePrice)`,
);

const V2 = '0x9a1d00bed7cd04bcda516d721a596eb22aac6834';

export const paymentProcessorV2 = version(
  'payment-processor-v2',
  Object.fromEntries([1, 10, 56, 137, 8453, 42_161, 43_114].map((chainId) => [chainId, V2])),
);

export const paymentProcessorV3 = version('payment-processor-v3', {
  1: '0x9a1d00000000fc540e2000560054812452eb5366',
});

/** A taker's on-top fee is in no event; the sale price includes everything else. */
function version(protocol: string, known: Readonly<Record<number, string>>): Marketplace {
  return {
    name: 'magiceden',
    protocol,
    topics: [LISTING_ERC721, LISTING_ERC1155, OFFER_ERC721, OFFER_ERC1155].map(({ topic }) => topic),
    addresses: deployments(protocol, known),
    fills: (own) => own.flatMap((log) => readFill(log) ?? []),
  };
}

type Sale = NonNullable<ReturnType<typeof LISTING_ERC721.read>> & { readonly amount?: bigint };

function readFill(log: Log): Fill | null {
  const listing = LISTING_ERC721.read(log) ?? LISTING_ERC1155.read(log);
  const sale: Sale | null = listing ?? OFFER_ERC721.read(log) ?? OFFER_ERC1155.read(log);
  if (sale === null) return null;
  return {
    log,
    side: listing === null ? 1 : 0,
    seller: lowerCase(sale.seller),
    buyer: lowerCase(sale.beneficiary === ZERO_ADDRESS ? sale.buyer : sale.beneficiary),
    items: [tradedItem(sale.tokenAddress, sale.tokenId, sale.amount)],
    paymentToken: paymentToken(sale.paymentCoin),
    price: sale.salePrice,
  };
}
