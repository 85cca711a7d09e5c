import type { Database } from '@chainstead/db';
import { CONNECTIONS, compareThroughput } from '../api-load.ts';
import { API_KEY, POOL_SIZE, pathOf, type ServedRoute, withApiServers } from '../api-servers.ts';
import type { Benchmark, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';

const PAGE_SIZE = 100;

const TARGETS = { baseline: 1.8, floor: 0.6 };

const ROUTES = {
  'latest coins': {
    path: '/coins/latest',
    query: `limit=${PAGE_SIZE}`,
    statement: coinsOf(`network = 'mainnet'`, 'transaction_version DESC, coin_type_hash DESC'),
  },
  'coins by symbol': {
    path: '/coins/symbols',
    query: `limit=${PAGE_SIZE}&from_symbol=S4&to_symbol=S9`,
    statement: coinsOf(`network = 'mainnet' AND symbol BETWEEN 'S4' AND 'S9'`, 'symbol, coin_type_hash'),
  },
  'coins by name': {
    path: '/coins/names',
    query: `limit=${PAGE_SIZE}`,
    statement: coinsOf(`network = 'mainnet'`, 'name, coin_type_hash'),
  },
} as const satisfies Record<string, ServedRoute>;

function coinsOf(condition: string, order: string): string {
  return `SELECT coin_type, encode(coin_type_hash, 'hex') AS coin_type_hash, '0x' || encode(creator_address, 'hex') AS creator_address,
      decimals, name, symbol, transaction_timestamp::text AS transaction_timestamp, transaction_version
    FROM aptos_coins AS coin WHERE ${condition} ORDER BY ${order.replace('coin_type_hash', 'coin.coin_type_hash')} LIMIT ${PAGE_SIZE}`;
}

/** Pages of coins from the program's API, from the baseline's and from a floor. */
export const aptosRoutes: Benchmark = {
  name: 'aptos-routes',
  title: 'Pages of 100 Aptos coins against the baseline, and a floor that reads and sends rows',
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
          results.push(...(await compareThroughput(context, { name, paths: [path] }, servers, TARGETS)));
        }
        return results;
      });
      return {
        comparisons,
        measures: [],
        notes: [
          `${coins} coins; pages of ${PAGE_SIZE}.`,
          `${CONNECTIONS} connections, ${POOL_SIZE} database connections on each side; key check on in the program's.`,
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
