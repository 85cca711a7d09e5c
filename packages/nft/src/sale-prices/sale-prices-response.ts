import { indexedSchema, showIndexed } from '@chainstead/answers';
import { type Address, decimalAmount } from '@chainstead/core';
import { dollarsOf, type EtherPrice } from '@chainstead/prices';
import { z } from '@hono/zod-openapi';
import type { PaymentToken, Sale, SalePrices } from './get-sale-prices.ts';

const addressText = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });
const digits = z.string().openapi({ pattern: '^[0-9]+$', example: '18' });
const dollars = z.string().nullable().openapi({ pattern: '^[0-9]+\\.[0-9]{2}$', example: '13.42' });

const PRICE = digits.openapi({ description: 'Of one unit, in wei' });
const FORMATTED = z.string().openapi({ description: 'In ether, exact', example: '0.0073' });

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
        "By the chain's last ETH/USD answer at or before the sale; null where the chain has no source or it is not indexed",
    }),
    current_usd_value: dollars.openapi({ description: "By the chain's newest ETH/USD answer" }),
    token_address: addressText.optional().openapi({ description: 'Present in the answer for a collection' }),
    token_id: digits,
    payment_token: z
      .object({
        token_name: z.string(),
        token_symbol: z.string(),
        token_logo: z.string().nullable(),
        token_decimals: digits,
        token_address: addressText.openapi({ description: `The chain's native currency is 0xeeee…eeee` }),
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

/** The answer of the sale price routes (docs/provider-contract.md#sale-prices). */
export const salePricesSchema = z
  .object({
    last_sale: saleSchema.nullable(),
    lowest_sale: saleSchema.nullable(),
    highest_sale: saleSchema.nullable(),
    average_sale: averageSchema.nullable(),
    total_trades: z.int().min(0).openapi({ description: 'Sales that were counted' }),
    message: z.string().optional().openapi({ description: 'Present where there is no sale: why the rest is null' }),
    indexed: indexedSchema,
  })
  .openapi('NftSalePrices');

/** @param collection the collection's address where the answer is for all of its tokens, else null */
export function showSalePrices(
  prices: SalePrices,
  days: number,
  collection: Address | null,
): z.infer<typeof salePricesSchema> {
  const { sales, etherPrice } = prices;
  const indexed = showIndexed(prices.indexed);
  if (sales === null)
    return {
      last_sale: null,
      lowest_sale: null,
      highest_sale: null,
      average_sale: null,
      total_trades: 0,
      message: noSale(days, { isComplete: days === 0 || prices.indexed.complete }),
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

function noSale(days: number, { isComplete }: { readonly isComplete: boolean }): string {
  const window = `the last ${days} ${days === 1 ? 'day' : 'days'}`;
  return isComplete
    ? `No sale paid in ETH in ${window}`
    : `No sale paid in ETH in what is indexed of ${window}: blocks are missing, see indexed`;
}

function showSale(sale: Sale, now: EtherPrice | null, collection: Address | null): z.infer<typeof saleSchema> {
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
/** Of ether, and of every token that stands for it. */
const ETHER_DECIMALS = 18;

function showPayment(token: PaymentToken | null) {
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
