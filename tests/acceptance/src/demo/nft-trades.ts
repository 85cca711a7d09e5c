import type { Address } from '@chainstead/core';
import type { ExpectedTrade } from '@chainstead/testkit';
import { z } from 'zod';
import { type DemoApi, readAllPages } from './demo-api.ts';

/** A trade as it is served. All values are texts. */
export const servedTrade = z.object({
  transaction_hash: z.string(),
  transaction_index: z.string(),
  token_ids: z.array(z.string()),
  seller_address: z.string(),
  buyer_address: z.string(),
  token_address: z.string(),
  marketplace_address: z.string(),
  price_token_address: z.string().nullable(),
  price: z.string(),
  block_timestamp: z.string(),
  block_number: z.string(),
  block_hash: z.string(),
});

/** A trade as the API must serve it. */
export function asServed(trade: ExpectedTrade): z.output<typeof servedTrade> {
  return {
    transaction_hash: trade.transactionHash,
    transaction_index: String(trade.transactionIndex),
    token_ids: [...trade.tokenIds],
    seller_address: trade.seller,
    buyer_address: trade.buyer,
    token_address: trade.token,
    marketplace_address: trade.marketplace,
    price_token_address: trade.paymentToken,
    price: trade.price,
    block_timestamp: new Date(trade.blockTimestamp * 1000).toISOString(),
    block_number: String(trade.blockNumber),
    block_hash: trade.blockHash,
  };
}

/** Where the trades of a collection, of each of its sold tokens and of each wallet are listed, with what must be there. */
export function expectedTradeLists(
  trades: readonly ExpectedTrade[],
  collections: readonly Address[],
  wallets: readonly Address[],
): ReadonlyMap<string, readonly ExpectedTrade[]> {
  const lists = new Map<string, ExpectedTrade[]>();
  for (const collection of collections) lists.set(`nft/${collection}/trades`, []);
  for (const wallet of wallets) lists.set(`wallets/${wallet}/nfts/trades`, []);
  for (const trade of trades) {
    const ofTokens = trade.tokenIds.map((id) => `nft/${trade.token}/${id}/trades`);
    const ofWallets = [trade.seller, trade.buyer].map((wallet) => `wallets/${wallet}/nfts/trades`);
    for (const path of [`nft/${trade.token}/trades`, ...ofTokens, ...ofWallets])
      lists.set(path, [...(lists.get(path) ?? []), trade]);
  }
  return lists;
}

/** The trades of a list, newest first, as texts. @throws DemoApiError */
export async function readTradeList(api: DemoApi, path: string): Promise<string[]> {
  const rows = await readAllPages(api, path, servedTrade);
  return rows.map((trade) => tradeText(path, trade));
}

export function tradeText(path: string, trade: z.output<typeof servedTrade>): string {
  return `${path}: ${JSON.stringify(servedTrade.parse(trade))}`;
}
