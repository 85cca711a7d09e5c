import { type Address, decimalAmount, type Fraction } from '@chainstead/core';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { dollarsOf } from '@chainstead/tokens/price-feeds/quotes';
import { z } from '@hono/zod-openapi';
import type { Sale, SalePrices } from './get-sale-prices.ts';

const addressText = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '18' });
const dollars = z.string().nullable().openapi({ pattern: '^[0-9]+\\.[0-9]{2}$', example: '13.42' });

const PRICE = digits.openapi({ description: 'Price of one unit in wei' });
const FORMATTED = z.string().openapi({ description: 'Exact price in ether', example: '0.0073' });

const saleSchema = z
  .object({
    transaction_hash: z.string().openapi({ pattern: '^0x[0-9a-f]{64}$' }),
    block_timestamp: z.iso.datetime({ precision: 3 }).openapi({ example: '2022-12-06T00:32:11.000Z' }),
    buyer_address: addressText,
    seller_address: addressText,
    price: PRICE,
    price_formatted: FORMATTED,
    usd_price_at_sale: dollars.openapi({
      description:
        'By the last ETH/USD price of the chain at or before the sale. null if the chain has no price feed or it is not indexed',
    }),
    current_usd_value: dollars.openapi({ description: 'By the newest ETH/USD price of the chain' }),
    token_address: addressText.optional().openapi({ description: 'Only in responses for a collection' }),
    token_id: digits,
    payment_token: z
      .object({
        token_name: z.string(),
        token_symbol: z.string(),
        token_logo: z.string().nullable(),
        token_decimals: digits,
        token_address: addressText.openapi({ description: `0xeeee…eeee for the native token` }),
      })
      .openapi('NftSalePaymentToken'),
  })
  .openapi('NftSale');

const averageSchema = z
  .object({
    price: digits.openapi({ description: 'In wei, rounded down' }),
    price_formatted: FORMATTED,
    current_usd_value: dollars,
  })
  .openapi('NftAverageSale');

/** docs/api/nfts.md#sale-prices */
export const salePricesSchema = z
  .object({
    last_sale: saleSchema.nullable(),
    lowest_sale: saleSchema.nullable(),
    highest_sale: saleSchema.nullable(),
    average_sale: averageSchema.nullable(),
    total_trades: z.int().min(0).openapi({ description: 'Number of counted sales' }),
    message: z
      .string()
      .optional()
      .openapi({ description: 'Only if there is no sale: the reason for the null values' }),
    indexed: indexedSchema,
  })
  .openapi('NftSalePrices');

/** @param collection null if the response does not cover all its tokens */
export function showSalePrices(
  prices: SalePrices,
  days: number,
  collection: Address | null,
): z.infer<typeof salePricesSchema> {
  const { sales, etherPrice } = prices;
  const indexed = showIndexed(prices.indexed);
  const window = `the last ${days} ${days === 1 ? 'day' : 'days'}`;
  if (sales === null)
    return {
      last_sale: null,
      lowest_sale: null,
      highest_sale: null,
      average_sale: null,
      total_trades: 0,
      message:
        days === 0 || prices.indexed.complete
          ? `No sale paid in ETH in ${window}`
          : `No sale paid in ETH in the indexed blocks of ${window}: blocks are missing, see indexed`,
      indexed,
    };
  const show = (sale: Sale) => showSale(sale, etherPrice, collection);
  return {
    last_sale: show(sales.last),
    lowest_sale: show(sales.lowest),
    highest_sale: show(sales.highest),
    average_sale: {
      price: sales.average,
      price_formatted: inEther(sales.average),
      current_usd_value: etherPrice === null ? null : dollarsOf(sales.average, etherPrice),
    },
    total_trades: sales.count,
    indexed,
  };
}

function showSale(sale: Sale, now: Fraction | null, collection: Address | null): z.infer<typeof saleSchema> {
  return {
    transaction_hash: sale.transactionHash,
    block_timestamp: sale.blockTimestamp.toISOString(),
    buyer_address: sale.buyer,
    seller_address: sale.seller,
    price: sale.price,
    price_formatted: inEther(sale.price),
    usd_price_at_sale: sale.etherPrice === null ? null : dollarsOf(sale.price, sale.etherPrice),
    current_usd_value: now === null ? null : dollarsOf(sale.price, now),
    ...(collection !== null && { token_address: collection }),
    token_id: sale.tokenId,
    payment_token: showPayment(sale.paymentToken),
  };
}

const COIN_ADDRESS = `0x${'e'.repeat(40)}`;
const ETHER_DECIMALS = 18;

function showPayment(token: Sale['paymentToken']) {
  return {
    token_name: token === null ? 'Ether' : (token.name ?? 'Wrapped Ether'),
    token_symbol: token === null ? 'ETH' : (token.symbol ?? 'WETH'),
    token_logo: token?.logo ?? null,
    token_decimals: String(ETHER_DECIMALS),
    token_address: token?.address ?? COIN_ADDRESS,
  };
}

function inEther(wei: string): string {
  return decimalAmount(wei, ETHER_DECIMALS);
}
