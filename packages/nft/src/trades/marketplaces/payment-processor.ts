import { type Log, ZERO_ADDRESS } from '@chainstead/core';
import { parseAbiItem } from 'abitype';
import { deployments } from '../deployments.ts';
import { eventArguments, lowerCase, topicOf } from '../event-arguments.ts';
import type { Fill, Marketplace, TradeSide } from '../marketplace.ts';
import { paymentToken } from '../payment-token.ts';
import { tradedItem } from '../traded-items.ts';

const LISTING_ERC721 = parseAbiItem(
  'event BuyListingERC721(address indexed buyer, address indexed seller, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 salePrice)',
);
const LISTING_ERC1155 = parseAbiItem(
  'event BuyListingERC1155(address indexed buyer, address indexed seller, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 amount, uint256 salePrice)',
);
/** Seller and buyer are in the opposite order here. */
const OFFER_ERC721 = parseAbiItem(
  'event AcceptOfferERC721(address indexed seller, address indexed buyer, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 salePrice)',
);
const OFFER_ERC1155 = parseAbiItem(
  'event AcceptOfferERC1155(address indexed seller, address indexed buyer, address indexed tokenAddress, address beneficiary, address paymentCoin, uint256 tokenId, uint256 amount, uint256 salePrice)',
);

const V2 = '0x9a1d00bed7cd04bcda516d721a596eb22aac6834';

/** Limit Break's Payment Processor v2, the contract that Magic Eden uses on EVM chains. */
export const paymentProcessorV2 = version('payment-processor-v2', {
  1: V2,
  10: V2,
  56: V2,
  137: V2,
  8453: V2,
  42161: V2,
  43114: V2,
});

/** Payment Processor v3: the same events. */
export const paymentProcessorV3 = version('payment-processor-v3', { 1: '0x9a1d00000000fc540e2000560054812452eb5366' });

/** A taker's on-top fee is in no event; the sale price includes everything else. */
function version(protocol: string, known: Readonly<Record<number, string>>): Marketplace {
  return {
    name: 'magiceden',
    protocol,
    topics: [LISTING_ERC721, LISTING_ERC1155, OFFER_ERC721, OFFER_ERC1155].map(topicOf),
    addresses: deployments(protocol, known),
    fills: (own) => own.flatMap((log) => readFill(log) ?? []),
  };
}

function readFill(log: Log): Fill | null {
  const listing = eventArguments(LISTING_ERC721, log) ?? eventArguments(LISTING_ERC1155, log);
  if (listing !== null) return fillOf(log, 0, listing);
  const offer = eventArguments(OFFER_ERC721, log) ?? eventArguments(OFFER_ERC1155, log);
  return offer === null ? null : fillOf(log, 1, offer);
}

interface Sale {
  readonly buyer: `0x${string}`;
  readonly seller: `0x${string}`;
  readonly tokenAddress: `0x${string}`;
  /** The receiver of the token, if it is not the buyer. */
  readonly beneficiary: `0x${string}`;
  readonly paymentCoin: `0x${string}`;
  readonly tokenId: bigint;
  readonly amount?: bigint;
  readonly salePrice: bigint;
}

function fillOf(log: Log, side: TradeSide, sale: Sale): Fill {
  const receiver = sale.beneficiary === ZERO_ADDRESS ? sale.buyer : sale.beneficiary;
  return {
    log,
    side,
    seller: lowerCase(sale.seller),
    buyer: lowerCase(receiver),
    items: [tradedItem(sale.tokenAddress, sale.tokenId, sale.amount)],
    paymentToken: paymentToken(sale.paymentCoin),
    price: sale.salePrice,
  };
}
