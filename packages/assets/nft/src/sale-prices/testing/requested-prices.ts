import type { Address } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import type { z } from 'zod';
import { request } from '../../trades/testing/requested-trades.ts';
import { COLLECTION, type SeededTrade } from '../../trades/testing/seeded-trades.ts';
import { salePricesView } from '../sale-prices-route.ts';

export type PricesAnswer = z.infer<typeof salePricesView.schema>;

/** Returns sale prices that match the documented schema. @throws Error if the response does not */
async function getPrices(api: ApiApp, path: string): Promise<PricesAnswer> {
  const { status, body } = await request(api, path);
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(body)}`);
  return salePricesView.schema.strict().parse(body);
}

export function getTokenPrices(
  api: ApiApp,
  query = '',
  tokenId = '1',
  token: Address = COLLECTION,
): Promise<PricesAnswer> {
  return getPrices(api, `/nft/${token}/${tokenId}/price${query}`);
}

export function getCollectionPrices(api: ApiApp, query = '', token: Address = COLLECTION): Promise<PricesAnswer> {
  return getPrices(api, `/nft/${token}/price${query}`);
}

export const DAY = 86_400;
/** Start of the test. Unix seconds. */
export const NOW = Math.floor(Date.now() / 1000);

/** A sale that many days ago. Blocks count up to 1,000,000 now, one a minute. */
export function sale(daysAgo: number, facts: Partial<SeededTrade> = {}): SeededTrade {
  return { blockNumber: blockAgo(daysAgo), timestamp: NOW - Math.round(daysAgo * DAY), ...facts };
}

export function blockAgo(daysAgo: number): number {
  return 1_000_000 - Math.ceil((daysAgo * DAY) / 60);
}

/** Thousandths of an ether in wei. */
export function ether(milli: number): string {
  return (BigInt(milli) * 10n ** 15n).toString();
}
