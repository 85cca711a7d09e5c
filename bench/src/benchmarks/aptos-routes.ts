import type { Database } from '@chainstead/db';
import { CONNECTIONS, compareThroughput } from '../api-load.ts';
import { API_KEY, POOL_SIZE, pathOf, type ServedRoute, withApiServers } from '../api-servers.ts';
import type { Benchmark, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';

const PAGE_SIZE = 100;

const ROUTES = {
  'latest coins': { path: '/coins/latest', query: `limit=${PAGE_SIZE}`, sample: {} },
  'coins by symbol': { path: '/coins/symbols', query: `limit=${PAGE_SIZE}&from_symbol=S4&to_symbol=S9`, sample: {} },
  'coins by name': { path: '/coins/names', query: `limit=${PAGE_SIZE}`, sample: {} },
} as const satisfies Record<string, ServedRoute>;

/** Pages of coins from the program's API, and from bare routes. */
export const aptosRoutes: Benchmark = {
  name: 'aptos-routes',
  title: 'Pages of 100 Aptos coins against bare Hono routes with the same SQL',
  async run(context) {
    const scratch = await context.server.createDatabase();
    try {
      const { aptosCoins: coins } = context.sizes;
      context.say(`  filling ${coins} coins`);
      await fillCoins(scratch.database, coins);
      const comparisons = await withApiServers(scratch.url, Object.values(ROUTES), async (servers) => {
        const results: Comparison[] = [];
        for (const [name, route] of Object.entries(ROUTES)) {
          const path = pathOf(route, {});
          await requirePage(`${servers.url}${path}`);
          results.push(await compareThroughput(context, { name, paths: [path] }, servers));
        }
        return results;
      });
      return {
        comparisons,
        measures: [],
        notes: [
          `${coins} coins; pages of ${PAGE_SIZE}.`,
          `${CONNECTIONS} connections, ${POOL_SIZE} database connections on each side; key check on in ours.`,
        ],
      };
    } finally {
      await scratch.drop();
    }
  },
};

/** Coins with types as long as those of liquidity pools, and everything indexed. */
async function fillCoins(database: Database, coins: number): Promise<void> {
  const address = (kind: string) => `encode(sha256(convert_to('${kind}' || number, 'UTF8')), 'hex')`;
  await database.query(
    `INSERT INTO aptos_coins (network, coin_type_hash, coin_type, creator_address, name, symbol, decimals, transaction_version, transaction_timestamp)
     SELECT 'mainnet', sha256(convert_to(type, 'UTF8')), type, decode(${address('creator')}, 'hex'), 'Coin number ' || number, 'S' || number % 10000, 8,
       number * 1000, to_timestamp(1660000000 + number)
     FROM generate_series(1, $1::integer) AS number,
       LATERAL (SELECT '0x' || ${address('creator')} || '::lp::LP<0x' || ${address('left')} || '::coin::A, 0x1::aptos_coin::AptosCoin>' AS type) AS types`,
    [coins],
  );
  await database.query(
    `INSERT INTO aptos_ranges (network, dataset, first_version, last_version) VALUES ('mainnet', 'coins', 0, $1)`,
    [coins * 1_000],
  );
  await database.query('VACUUM ANALYZE');
}

/** An empty answer is quick. */
async function requirePage(url: string): Promise<void> {
  const response = await fetch(url, { headers: { 'x-api-key': API_KEY } });
  const answer = (await response.json()) as { readonly result?: readonly unknown[] };
  if (answer.result?.length === PAGE_SIZE) return;
  throw new BenchmarkError(`${url}: ${response.status} ${JSON.stringify(answer).slice(0, 1_000)}`);
}
