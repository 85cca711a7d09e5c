import { API_KEY } from './api-servers.ts';
import { BenchmarkError } from './benchmark-error.ts';

export const PAGE_SIZE = 100;

/** The route of a wallet's transfers, as every side is requested. */
export const WALLET_PAGE = {
  path: '/api/v2.2/:address/erc20/transfers',
  query: `chain=eth&limit=${PAGE_SIZE}`,
} as const;

/** A page as the API answers it. */
export interface WalletPage {
  readonly cursor: string | null;
  readonly result: readonly unknown[];
}

/** @returns milliseconds. @throws BenchmarkError when the page has another number of rows */
export async function timePage(url: string, rows: number): Promise<number> {
  const before = performance.now();
  const { result } = await readAnswer<WalletPage>(url);
  const took = performance.now() - before;
  if (result.length !== rows) throw new BenchmarkError(`${url} gave ${result.length} rows instead of ${rows}`);
  return took;
}

/** @param headers in addition to the key. @throws BenchmarkError when it is refused, or not ready yet */
export async function readAnswer<T>(url: string, headers: Readonly<Record<string, string>> = {}): Promise<T> {
  const response = await fetch(url, { headers: { 'x-api-key': API_KEY, ...headers } });
  if (response.status !== 200) throw new BenchmarkError(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
