import { createChainRegistry } from '@chainstead/chains';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, type PageAnswer } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import type { transferView } from '../page/transfer-response.ts';
import type { SeededTransfer } from './seeded-wallets.ts';

/** Common subjects of the transfer route tests. */
export const eth = createChainRegistry().get('eth');
export const WALLET = addressOf(0xa11ce);
export const FRIEND = addressOf(0xb0b);
export const USDC = addressOf(0xc0);
export const DAI = addressOf(0xda);

/** The wallet sends its friend 1.5 USDC in this block, unless `facts` differ. */
export function transfer(blockNumber: number, facts: Partial<SeededTransfer> = {}): SeededTransfer {
  const place = { blockNumber, transactionIndex: 0, logIndex: 0 };
  return { from: WALLET, to: FRIEND, token: USDC, value: 1_500_000n, ...place, ...facts };
}

/** One transfer in each of these blocks. */
export function transfersIn(first: number, last: number): SeededTransfer[] {
  return Array.from({ length: last - first + 1 }, (_, index) => transfer(first + index));
}

export type Answer = PageAnswer<typeof transferView>;

/** Requests a wallet's transfers. */
export async function requestTransfers(
  api: ApiApp,
  query: string,
  wallet: string = WALLET,
): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
  const response = await api.request(`/api/v2.2/${wallet}/erc20/transfers${query}`, {
    headers: { 'X-API-Key': EXAMPLE_KEY },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/**
 * Returns a page of a wallet's transfers, whose JSON the API under test has validated.
 * @throws Error if the response is not a page
 */
export async function getTransfers(api: ApiApp, query: string, wallet: string = WALLET): Promise<Answer> {
  const { status, body } = await requestTransfers(api, query, wallet);
  if (status !== 200) throw new Error(`${query} was answered ${status}: ${JSON.stringify(body)}`);
  return body as unknown as Answer;
}

/** Returns the block numbers of a response's rows, in order. */
export function blocksOf(answer: Answer): number[] {
  return answer.result.map((row) => Number(row.block_number));
}
