import autocannon from 'autocannon';
import { alternate } from './alternate.ts';
import { API_KEY, type ApiServers } from './api-servers.ts';
import type { BenchmarkContext, Comparison, Target } from './benchmark.ts';
import { BenchmarkError } from './benchmark-error.ts';

export const CONNECTIONS = 20;
/** Node compiles request handlers after some hundred requests. */
const WARM_UP_SECONDS = 3;

/** Paths that both servers serve, requested one after the other. */
export interface RequestedPaths {
  readonly name: string;
  readonly paths: readonly string[];
}

/** Requests per second of the program's API and of the floor, both warm. */
export async function compareThroughput(
  { runs, sizes, say }: BenchmarkContext,
  { name, paths }: RequestedPaths,
  { url, floorUrl }: ApiServers,
  target: Target,
): Promise<Comparison> {
  for (const each of [url, floorUrl]) await load(each, paths, WARM_UP_SECONDS);
  const { first, second } = await alternate(
    runs,
    { name: 'chainstead', run: () => load(url, paths, sizes.loadSeconds) },
    { name: 'floor', run: () => load(floorUrl, paths, sizes.loadSeconds) },
    say,
  );
  return { name, unit: 'requests/s', ours: first, peer: second, target };
}

/** Uses {@link CONNECTIONS} connections. @returns successful requests per second @throws {BenchmarkError} if a request fails */
async function load(url: string, paths: readonly string[], seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { 'x-api-key': API_KEY, 'accept-encoding': 'identity' },
    requests: paths.map((path) => ({ method: 'GET', path })),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new BenchmarkError(
      `${result.non2xx} responses were not 2xx and ${result.errors} requests failed at ${url}`,
    );
  return result['2xx'] / result.duration;
}
