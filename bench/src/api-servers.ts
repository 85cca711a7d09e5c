import { fileURLToPath } from 'node:url';
import type { BareRoute, BareRoutePlan } from './bare/bare-route.ts';
import { startChainstead } from './chainstead-program.ts';
import { type MeasuredProcess, startProcess } from './measured-process.ts';

/** What the program's API accepts in benchmarks. */
export const API_KEY = 'benchmark-key';
/** The program's default. */
export const POOL_SIZE = 10;

/** A route that all sides serve. */
export interface ServedRoute extends BareRoute {
  /** What follows the path in every request. */
  readonly query: string;
}

/** Two servers over one database: the program's API, and a floor that only reads and sends rows. */
export interface ApiServers {
  readonly url: string;
  readonly floorUrl: string;
}

/** Starts the servers, does the work, and stops them. */
export async function withApiServers<T>(
  databaseUrl: string,
  routes: readonly ServedRoute[],
  work: (servers: ApiServers) => Promise<T>,
): Promise<T> {
  const place = { databaseUrl, rpcUrls: ['http://127.0.0.1:9'], env: { PORT: '0', API_KEYS: API_KEY } };
  const programs = [startChainstead(['start', '--roles', 'api'], place), startFloor(databaseUrl, routes)];
  try {
    const [url = '', floorUrl = ''] = await Promise.all(programs.map(addressOf));
    return await work({ url, floorUrl });
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
}

/** Starts the floor: a server that reads and sends the rows of routes. */
export function startFloor(databaseUrl: string, routes: readonly BareRoute[]): MeasuredProcess {
  const plan: BareRoutePlan = {
    databaseUrl,
    poolSize: POOL_SIZE,
    routes: routes.map(({ path, statement }) => ({ path, statement })),
  };
  return startProcess({
    args: [fileURLToPath(new URL('./bare/bare-route.ts', import.meta.url)), JSON.stringify(plan)],
    env: {},
  });
}

/** The path of a request. */
export function pathOf(
  { path, query }: Pick<ServedRoute, 'path' | 'query'>,
  values: Readonly<Record<string, string>>,
): string {
  return `${path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '')}?${query}`;
}

/** Where a process of the program says that it listens. */
export function addressOf(program: MeasuredProcess): Promise<string> {
  return program.line((line) => (/Listening/.test(line) ? /http:\/\/[\d.]+:\d+/.exec(line)?.[0] : undefined));
}
