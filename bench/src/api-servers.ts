import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import type { BareRoute, BareRoutePlan } from './bare/bare-route.ts';
import { BenchmarkError } from './benchmark-error.ts';
import { captureStatement } from './captured-statement.ts';
import { startChainstead } from './chainstead-program.ts';
import { type MeasuredProcess, startProcess } from './measured-process.ts';

/** What the program's API accepts in benchmarks. */
export const API_KEY = 'benchmark-key';
/** The program's default. */
export const POOL_SIZE = 10;

/** A route that both sides serve. */
export interface ServedRoute {
  /** As Hono takes it: `/api/v2.2/:address/erc20/transfers`. */
  readonly path: string;
  /** What follows the path in every request. */
  readonly query: string;
  /** Values of the path's parameters that no other value of the statement is likely to equal. Addresses become bytea. */
  readonly sample: Readonly<Record<string, string>>;
}

/** The program's API over a database, and a bare server that runs the same statements over it. */
export interface ApiServers {
  readonly url: string;
  readonly bareUrl: string;
}

/** Starts both servers, does the work, and ends them. */
export async function withApiServers<T>(
  databaseUrl: string,
  routes: readonly ServedRoute[],
  work: (servers: ApiServers) => Promise<T>,
): Promise<T> {
  const plan: BareRoutePlan = { databaseUrl, poolSize: POOL_SIZE, routes: await Promise.all(routes.map(bareRouteOf)) };
  const program = startChainstead(['start', '--roles', 'api'], {
    databaseUrl,
    rpcUrls: ['http://127.0.0.1:9'],
    env: { PORT: '0', API_KEYS: API_KEY },
  });
  const bare = startProcess({
    args: [fileURLToPath(new URL('./bare/bare-route.ts', import.meta.url)), serialize(plan).toString('base64')],
    env: {},
  });
  try {
    return await work({ url: await addressOf(program), bareUrl: await addressOf(bare) });
  } finally {
    await Promise.all([program.stop(), bare.stop()]);
  }
}

/** The path of a request. */
export function pathOf({ path, query }: ServedRoute, values: Readonly<Record<string, string>>): string {
  return `${path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '')}?${query}`;
}

/** Where a process of the program says that it listens. */
export function addressOf(program: MeasuredProcess): Promise<string> {
  return program.line((line) => (/Listening/.test(line) ? /http:\/\/[\d.]+:\d+/.exec(line)?.[0] : undefined));
}

async function bareRouteOf(route: ServedRoute): Promise<BareRoute> {
  const { text, values } = await captureStatement(pathOf(route, route.sample));
  const parameters = Object.entries(route.sample).map(([name, sample]) => {
    const kind = sample.startsWith('0x') ? ('bytes' as const) : ('text' as const);
    const places = values.flatMap((value, place) =>
      (kind === 'bytes' ? isBytes(value, sample) : value === sample) ? [place] : [],
    );
    if (places.length === 0) throw new BenchmarkError(`The statement of ${route.path} has no value for ${name}`);
    return { name, kind, places };
  });
  return { path: route.path, text, values, parameters };
}

function isBytes(value: unknown, hex: string): boolean {
  return Buffer.isBuffer(value) && value.toString('hex') === hex.slice(2);
}
