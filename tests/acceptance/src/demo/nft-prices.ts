import type { Address } from '@chainstead/core';
import type { Devnet, ExpectedTrade, Market } from '@chainstead/testkit';
import { formatEther, parseAbiItem } from 'viem';
import { z } from 'zod';
import { type DemoApi, readApi } from './demo-api.ts';

const ANSWER = parseAbiItem(
  'event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt)',
);

/** A price of the feed. */
export interface EtherAnswer {
  readonly blockNumber: number;
  /** Dollars for one ether, in 1e-8. */
  readonly answer: bigint;
}

const average = z.object({
  price: z.string(),
  price_formatted: z.string(),
  current_usd_value: z.string().nullable(),
});
const sale = average.extend({
  transaction_hash: z.string(),
  block_timestamp: z.string(),
  buyer_address: z.string(),
  seller_address: z.string(),
  usd_price_at_sale: z.string().nullable(),
  token_id: z.string(),
});

/** Sale prices as they are served. */
export const servedPrices = z.object({
  last_sale: sale.nullable(),
  lowest_sale: sale.nullable(),
  highest_sale: sale.nullable(),
  average_sale: average.nullable(),
  total_trades: z.number(),
});
export type ServedPrices = z.output<typeof servedPrices>;

/** All prices of the feed, oldest first, decoded by viem and not by our code. */
export async function readEtherAnswers(devnet: Devnet, { etherFeed }: Market): Promise<EtherAnswer[]> {
  const logs = await devnet.client.getLogs({
    address: etherFeed.address,
    event: ANSWER,
    strict: true,
    fromBlock: 0n,
  });
  return logs.map(({ blockNumber, args }) => ({ blockNumber: Number(blockNumber), answer: args.current }));
}

/** Where the prices of the collections and of their sold tokens are, with what must be there. */
export function expectedPrices(
  trades: readonly ExpectedTrade[],
  answers: readonly EtherAnswer[],
  collections: readonly Address[],
): ReadonlyMap<string, ServedPrices> {
  const counted = trades.filter((trade) => trade.paymentToken === null && !trade.bundle);
  const prices = new Map<string, ServedPrices>();
  for (const collection of collections) {
    const ofCollection = counted.filter((trade) => trade.token === collection);
    prices.set(`nft/${collection}/price`, pricesOf(ofCollection, answers));
    const ids = trades.filter((trade) => trade.token === collection).flatMap((trade) => trade.tokenIds);
    for (const id of ids) {
      const ofToken = ofCollection.filter((trade) => trade.tokenIds[0] === id);
      prices.set(`nft/${collection}/${id}/price`, pricesOf(ofToken, answers));
    }
  }
  return prices;
}

export async function readPrices(api: DemoApi, path: string): Promise<ServedPrices> {
  return readApi(api, path, servedPrices);
}

function pricesOf(trades: readonly ExpectedTrade[], answers: readonly EtherAnswer[]): ServedPrices {
  if (trades.length === 0)
    return { last_sale: null, lowest_sale: null, highest_sale: null, average_sale: null, total_trades: 0 };
  const byPrice = trades.toSorted((a, b) => Number(unitPrice(a) - unitPrice(b)));
  const show = (trade: ExpectedTrade | undefined): z.output<typeof sale> | null =>
    trade === undefined ? null : saleOf(trade, answers);
  const highest = byPrice.at(-1);
  const total = trades.reduce((sum, trade) => sum + unitPrice(trade), 0n);
  return {
    last_sale: show(trades.at(-1)),
    lowest_sale: show(byPrice[0]),
    highest_sale: show(byPrice.find((trade) => highest !== undefined && unitPrice(trade) === unitPrice(highest))),
    average_sale: amountOf(total / BigInt(trades.length), answers),
    total_trades: trades.length,
  };
}

function saleOf(trade: ExpectedTrade, answers: readonly EtherAnswer[]): z.output<typeof sale> {
  const known = answers.filter(({ blockNumber }) => blockNumber <= trade.blockNumber);
  return {
    ...amountOf(unitPrice(trade), answers),
    transaction_hash: trade.transactionHash,
    block_timestamp: new Date(trade.blockTimestamp * 1000).toISOString(),
    buyer_address: trade.buyer,
    seller_address: trade.seller,
    usd_price_at_sale: dollars(unitPrice(trade), known),
    token_id: trade.tokenIds[0] ?? '',
  };
}

function amountOf(wei: bigint, answers: readonly EtherAnswer[]): z.output<typeof average> {
  return { price: String(wei), price_formatted: formatEther(wei), current_usd_value: dollars(wei, answers) };
}

const WEI = 10n ** 18n;
const ANSWER_UNIT = 10n ** 8n;

/** With two decimals, halves rounded up; by the newest of the answers. */
function dollars(wei: bigint, answers: readonly EtherAnswer[]): string | null {
  const newest = answers.at(-1);
  if (newest === undefined) return null;
  const halfCents = (wei * newest.answer * 200n) / (WEI * ANSWER_UNIT);
  const cents = (halfCents + 1n) / 2n;
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
}

function unitPrice({ price, amounts: [amount = '1'] }: ExpectedTrade): bigint {
  return BigInt(price) / BigInt(amount);
}
