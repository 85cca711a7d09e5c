import autocannon from 'autocannon';
import { alternate } from './alternate.ts';
import { API_KEY, type ApiServers } from './api-servers.ts';
import type { BenchmarkContext, Comparison } from './benchmark.ts';
import { BenchmarkError } from './benchmark-error.ts';

export const CONNECTIONS = 20;

/** What is asked of both servers, one path after the other. */
export interface AskedPaths {
  readonly name: string;
  readonly paths: readonly string[];
}

/** Requests a second that each side answers, both warm. The product is to answer 70 % of what the bare server does. */
export async function compareThroughput(
  { runs, sizes, say }: BenchmarkContext,
  { name, paths }: AskedPaths,
  { url, bareUrl }: ApiServers,
): Promise<Comparison> {
  await load(url, paths, 1);
  await load(bareUrl, paths, 1);
  const { first, second } = await alternate(
    runs,
    { name: `chainstead, ${name}`, run: () => load(url, paths, sizes.loadSeconds) },
    { name: `bare route, ${name}`, run: () => load(bareUrl, paths, sizes.loadSeconds) },
    say,
  );
  return { name, unit: 'requests/s', ours: first, peer: second, target: { atLeast: 0.7 } };
}

/** @returns requests answered a second */
async function load(url: string, paths: readonly string[], seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { 'x-api-key': API_KEY },
    requests: paths.map((path) => ({ method: 'GET', path })),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new BenchmarkError(`${result.non2xx} requests were refused and ${result.errors} failed at ${url}`);
  return result['2xx'] / result.duration;
}
