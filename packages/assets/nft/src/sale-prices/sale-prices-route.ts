import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, type Fraction, parseAddress } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { indexedBlocks, inside, textParameter, view, wire } from '@chainstead/http';
import { dollarsOf } from '@chainstead/tokens/price-feeds/quotes';
import { z } from '@hono/zod-openapi';
import { defineRoute, includeParameter } from '../routes.ts';
import { nftTrades } from '../trades/dataset.ts';
import { getSalePrices, type Sale, type SalePrices } from './get-sale-prices.ts';

const { address, count, digits, hash, moment, text } = wire;
const dollars = wire.wire(z.string().openapi({ pattern: '^[0-9]+\\.[0-9]{2}$', example: '13.42' }));
const ether = wire.wire(
  z.string().openapi({ description: 'Exact price in ether', example: '0.0073' }),
  (wei: string) => decimalAmount(wei, ETHER_DECIMALS),
);
const ETHER_DECIMALS = 18;
const COIN_ADDRESS = parseAddress(`0x${'e'.repeat(40)}`);

const paymentView = view('NftSalePaymentToken', (token: Sale['paymentToken']) => token, {
  token_name: text((token) => (token === null ? 'Ether' : (token.name ?? 'Wrapped Ether'))),
  token_symbol: text((token) => (token === null ? 'ETH' : (token.symbol ?? 'WETH'))),
  token_logo: text.orNull((token) => token?.logo ?? null),
  token_decimals: digits(() => String(ETHER_DECIMALS)),
  token_address: address('0xeeee…eeee for the native token', (token) => token?.address ?? COIN_ADDRESS),
});

export interface ShownSale extends Sale {
  /** Dollars per ether; null if the chain has no price. */
  readonly now: Fraction | null;
  /** Null in responses for an NFT. */
  readonly collection: Address | null;
}

export const saleView = view('NftSale', (sale: ShownSale) => sale, {
  transaction_hash: hash(({ transactionHash }) => transactionHash),
  block_timestamp: moment({ example: '2022-12-06T00:32:11.000Z' }, ({ blockTimestamp }) =>
    blockTimestamp.toISOString(),
  ),
  buyer_address: address(({ buyer }) => buyer),
  seller_address: address(({ seller }) => seller),
  price: digits('Price of one unit in wei'),
  price_formatted: ether(({ price }) => price),
  usd_price_at_sale: dollars.orNull(
    'By the last ETH/USD price of the chain at or before the sale. null if the chain has no price feed or it is not indexed',
    ({ price, etherPrice }) => etherPrice && dollarsOf(price, etherPrice),
  ),
  current_usd_value: dollars.orNull(
    'By the newest ETH/USD price of the chain',
    ({ price, now }) => now && dollarsOf(price, now),
  ),
  token_address: address.orAbsent('Only in responses for a collection', ({ collection }) => collection),
  token_id: digits(({ tokenId }) => tokenId),
  payment_token: inside(paymentView)(({ paymentToken }) => paymentToken),
});

const averageView = view(
  'NftAverageSale',
  (average: { readonly price: string; readonly now: Fraction | null }) => average,
  {
    price: digits('In wei, rounded down'),
    price_formatted: ether(({ price }) => price),
    current_usd_value: dollars.orNull(({ price, now }) => now && dollarsOf(price, now)),
  },
);

/** @param collection null if the response does not cover all its tokens */
function pricesOf({ sales, etherPrice: now, indexed }: SalePrices, days: number, collection: Address | null) {
  const window = `the last ${days} ${days === 1 ? 'day' : 'days'}`;
  const reason =
    days === 0 || indexed.complete
      ? `No sale paid in ETH in ${window}`
      : `No sale paid in ETH in the indexed blocks of ${window}: blocks are missing, see indexed`;
  return { sales, now, indexed, collection, reason };
}

const saleOf = inside(saleView).orNull;

/** docs/api/nfts.md#sale-prices */
export const salePricesView = view('NftSalePrices', pricesOf, {
  last_sale: saleOf(({ sales, ...shared }) => sales && { ...sales.last, ...shared }),
  lowest_sale: saleOf(({ sales, ...shared }) => sales && { ...sales.lowest, ...shared }),
  highest_sale: saleOf(({ sales, ...shared }) => sales && { ...sales.highest, ...shared }),
  average_sale: inside(averageView).orNull(({ sales, now }) => sales && { price: sales.average, now }),
  total_trades: count('Number of counted sales', ({ sales }) => sales?.count ?? 0),
  message: text.orAbsent('Only if there is no sale: the reason for the null values', ({ sales, reason }) =>
    sales === null ? reason : null,
  ),
  indexed: indexedBlocks(),
});

const COUNTED =
  'Includes sales of a single token for more than zero ether (canonical bridged ether on chains with another native token). For ERC-1155, the price is per unit, rounded down. Bundles are omitted.';

const DAYS_DEFAULT = 7;
const DAYS_MAX = 365;

const PRICES = {
  tag: 'NFT trades and prices',
  query: [
    'chain',
    {
      days: textParameter(`a whole number from 0 to ${DAYS_MAX}`, (text) => {
        const days = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
        return days <= DAYS_MAX ? days : undefined;
      })
        .optional()
        .openapi({
          type: 'integer',
          minimum: 0,
          maximum: DAYS_MAX,
          default: DAYS_DEFAULT,
          description: 'Number of days up to now. 0 is an empty window.',
        })
        .default(DAYS_DEFAULT),
      include_weth: includeParameter(
        'Includes sales paid in wrapped ether on chains whose native token is ether.',
      ),
    },
  ],
  datasets: [nftTrades.name],
  response: { description: 'The sale prices', schema: salePricesView.schema },
} as const;

/** docs/api/nfts.md#sale-prices */
export const tokenSalePricesRoute = defineRoute({
  ...PRICES,
  path: '/api/v2.2/nft/{address}/{token_id}/price',
  operationId: 'getNFTSalePrices',
  summary: 'Get sale prices of an NFT',
  description: `Last, lowest, highest and average price of an NFT over the requested number of days. ${COUNTED}`,
  params: ['address', { token_id: 'tokenId' }],
  answer: ({ token_id: tokenId, ...given }) => readPrices(given, tokenId),
});

export const collectionSalePricesRoute = defineRoute({
  ...PRICES,
  path: '/api/v2.2/nft/{address}/price',
  operationId: 'getNFTContractSalePrices',
  summary: 'Get sale prices of an NFT collection',
  description: `Last, lowest, highest and average NFT price of a collection over the requested number of days. ${COUNTED}`,
  params: ['address'],
  answer: (given) => readPrices(given, null),
});

interface RequestedPrices {
  readonly reads: ReadDatabase;
  readonly chain: Chain;
  readonly address: Address;
  readonly days: number;
  readonly include_weth: boolean;
}

async function readPrices(
  { reads, chain, address: token, days, include_weth: includeWrapped }: RequestedPrices,
  tokenId: string | null,
) {
  const query = { token, tokenId, days, now: new Date(), includeWrapped };
  return salePricesView.show(await getSalePrices(reads, chain, query), days, tokenId === null ? token : null);
}
