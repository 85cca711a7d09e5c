import { createChainRegistry } from '@chainstead/chains';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, pageSchema } from '@chainstead/http/testing';
import type { z } from 'zod';
import { tradeView } from '../trades-route.ts';

/** Fixtures of the trades route tests. */
export const eth = createChainRegistry().get('eth');

const tradesSchema = pageSchema(tradeView);
export type TradesAnswer = z.infer<typeof tradesSchema>;

/** Sends a request to the API. @param path after `/api/v2.2`, with its query */
export async function request(
  api: ApiApp,
  path: string,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const response = await api.request(`/api/v2.2${path}`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Returns a page of trades that matches the documented schema. @throws Error if the response does not */
export async function getTradesPage(api: ApiApp, path: string): Promise<TradesAnswer> {
  const { status, body } = await request(api, path);
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${JSON.stringify(body)}`);
  return tradesSchema.parse(body);
}

/** Block numbers of a response's rows, in order. */
export function blocksOf(answer: TradesAnswer): number[] {
  return answer.result.map((row) => Number(row.block_number));
}
