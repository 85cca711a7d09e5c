import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '@chainstead/db';
import type { ScratchDatabase } from '@chainstead/testkit';
import { API_KEY, addressOf, POOL_SIZE, pathOf, type ServedRoute, startFloor } from '../api-servers.ts';
import type { Benchmark, BenchmarkContext, Comparison, Measure } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { compareLatency, type TimedRequest } from '../compare-latency.ts';
import { fillMarketDataset, type MarketDataset } from '../market-dataset.ts';
import { timed } from '../timed-request.ts';
import { withNode } from '../with-node.ts';

const PAGE_SIZE = 100;
const NODE_BLOCKS = 10;
/** The worker stores candles every 30 seconds. */
const STORE_TRIES = 600;
const TARGETS = { candles: 3, wallet: 3, price: 2, prices25: 3, prices100: 8, profit: 3 };

const ofPool = (table: string): string =>
  `${table}.pool_key = address_key($1) AND ${table}.chain_id = 1 AND ${table}.pool = $1`;
const SWAP = `block_number, transaction_index, log_index, amount0::text, amount1::text`;
const NEWEST = 'ORDER BY block_number DESC, transaction_index DESC, log_index DESC';

/** What the floor reads and sends: the rows that the response follows from. */
const FLOORS = {
  swaps: {
    path: '/floor/swaps/:pool/:from/:to',
    query: '',
    statement: `SELECT ${SWAP} FROM swaps WHERE ${ofPool('swaps')} AND block_number BETWEEN $2::bigint AND $3::bigint ${NEWEST}`,
  },
  candles: {
    path: '/floor/candles/:pool/:hours/:from/:to',
    query: '',
    statement: `SELECT start, swaps, buys, sells, buy_volume::text, sell_volume::text, encode(prices, 'hex') AS prices FROM pool_candles
      WHERE ${ofPool('pool_candles')} AND hours = $2::int AND start >= $3::int AND start < $4::int ORDER BY start DESC`,
  },
  wallet: {
    path: '/floor/wallet/:wallet/:limit',
    query: '',
    statement: `SELECT ${SWAP}, '0x' || encode(pool, 'hex') AS pool, '0x' || encode(transaction_hash, 'hex') AS hash FROM swaps
      WHERE address_key(wallet) = address_key($1) AND wallet = $1 AND chain_id = 1 ${NEWEST} LIMIT $2::bigint`,
  },
  beneficiary: {
    path: '/floor/beneficiary/:wallet',
    query: '',
    statement: `SELECT ${SWAP}, extract(epoch FROM block_timestamp)::float8 AS time FROM swaps JOIN blocks USING (chain_id, block_number)
      WHERE beneficiary IS NOT NULL AND address_key(beneficiary) = address_key($1) AND beneficiary = $1 AND chain_id = 1`,
  },
  price: {
    path: '/floor/price/:token/:block',
    query: '',
    statement: `SELECT '0x' || encode(pool, 'hex') AS pool, state.* FROM (
        SELECT pool_key, chain_id, pool FROM pools WHERE address_key(token0) = address_key($1) AND chain_id = 1 AND status = 'proven'
        UNION ALL SELECT pool_key, chain_id, pool FROM pools WHERE address_key(token1) = address_key($1) AND chain_id = 1 AND status = 'proven') AS known
      CROSS JOIN LATERAL (SELECT block_number, reserve0::text, reserve1::text FROM pool_states AS state
        WHERE state.pool_key = known.pool_key AND state.chain_id = 1 AND state.pool = known.pool AND block_number >= $2::bigint) AS state`,
  },
} as const satisfies Record<string, ServedRoute>;

interface Rows {
  readonly result: readonly unknown[];
}

/** Candles, prices, swaps and profits from the program's API, against a floor that reads and sends the rows that they follow from. */
export const marketRoutes: Benchmark = {
  name: 'market-routes',
  title: 'Candles, prices, swaps and profits, against a floor that reads and sends their rows',
  run: (context) =>
    withNode(NODE_BLOCKS, {}, async (node) => {
      const { swaps } = context.sizes;
      const scratch = await context.server.createDatabase();
      try {
        context.say(`  filling ${swaps} swaps`);
        const dataset = await fillMarketDataset(scratch.database, swaps);
        const env = { PORT: '0', API_KEYS: API_KEY };
        const place = { databaseUrl: scratch.url, rpcUrls: [node.url], env };
        const programs = [
          startChainstead(['start', '--roles', 'api,worker'], place),
          startFloor(scratch.url, Object.values(FLOORS)),
        ] as const;
        try {
          const [url = '', floorUrl = ''] = await Promise.all(programs.map(addressOf));
          context.say('  waiting for the worker to store candles');
          const sizes = [
            await measureSize(scratch, swaps, 'swaps', ['swaps']),
            await storeCandles(scratch, swaps),
          ];
          const servers = { url, floorUrl };
          const comparisons = [
            ...(await compareCandles(context, dataset, servers)),
            ...(await compareWallet(context, dataset, servers)),
            ...(await comparePrices(context, dataset, servers)),
          ];
          return { comparisons, measures: sizes, notes: notesOf(swaps) };
        } finally {
          await Promise.all(programs.map((program) => program.stop()));
        }
      } finally {
        await scratch.drop();
      }
    }),
};

function notesOf(swaps: number): readonly string[] {
  return [
    `${swaps} swaps of one pool until now, ten per block of 12 seconds.`,
    'Candles of an hour and more come from stored hours and days; the floor reads those rows. Narrower ones come from swaps.',
    `${POOL_SIZE} database connections on each side; key check on in the program's.`,
  ];
}

interface Servers {
  readonly url: string;
  readonly floorUrl: string;
}

async function storeCandles({ database }: ScratchDatabase, swaps: number): Promise<Measure> {
  const wanted = sql`SELECT count(*)::int AS missing FROM generate_series(
      (SELECT floor(extract(epoch FROM min(block_timestamp)) / 3600)::int + 30 FROM blocks), (SELECT floor(extract(epoch FROM now()) / 3600)::int - 2)) AS hour
    WHERE NOT EXISTS (SELECT FROM candle_spans WHERE hours = 1 AND start = hour AND is_stored)`;
  for (let attempt = 0; attempt < STORE_TRIES; attempt++) {
    const [row] = await database.query<{ missing: number }>(wanted);
    if (row?.missing === 0) return measureSize({ database }, swaps, 'candles', ['pool_candles', 'candle_spans']);
    await sleep(1_000);
  }
  throw new BenchmarkError('The worker did not store the candles in time');
}

async function measureSize(
  { database }: Pick<ScratchDatabase, 'database'>,
  swaps: number,
  name: string,
  tables: readonly string[],
): Promise<Measure> {
  const [row] = await database.query<{ bytes: number }>(
    sql`SELECT sum(pg_total_relation_size(relation.oid))::float8 AS bytes FROM pg_class AS relation
     WHERE relation.oid = ANY (${tables}::text[]::regclass[]) OR relation.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ANY (${tables}::text[]::regclass[]))`,
  );
  return { name: `${name}, with indexes`, unit: 'bytes per swap', samples: [(row?.bytes ?? 0) / swaps] };
}

const HOUR = 3_600;
const TIMEFRAMES = [
  { timeframe: '1s', seconds: 1, stored: null },
  { timeframe: '1min', seconds: 60, stored: null },
  { timeframe: '30min', seconds: 1_800, stored: null },
  { timeframe: '1h', seconds: HOUR, stored: 1 },
  { timeframe: '4h', seconds: 4 * HOUR, stored: 1 },
  { timeframe: '1d', seconds: 24 * HOUR, stored: 24 },
  { timeframe: '1w', seconds: 168 * HOUR, stored: 24 },
] as const;
const BLOCK_SECONDS = 12;

/** The newest 100 candles of each width, or all. The last hours are not stored yet: both sides leave them out. */
async function compareCandles(
  context: BenchmarkContext,
  { pool, lastTime, lastBlock }: MarketDataset,
  { url, floorUrl }: Servers,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const { timeframe, seconds, stored } of TIMEFRAMES) {
    const to = Math.floor((lastTime - 3 * HOUR) / (24 * HOUR)) * 24 * HOUR;
    const earliest = Math.ceil((lastTime - lastBlock * BLOCK_SECONDS + 31 * HOUR) / (24 * HOUR)) * 24 * HOUR;
    // Both sides read whole days.
    const from = Math.max(to - PAGE_SIZE * seconds, earliest);
    const path = `/api/v2.2/pairs/${pool}/ohlcv?chain=eth&timeframe=${timeframe}&currency=usd&limit=${PAGE_SIZE}`;
    const span = `&fromDate=${new Date(from * 1_000).toISOString()}&toDate=${new Date(to * 1_000).toISOString()}`;
    const blockOf = (time: number): string => String(lastBlock - Math.floor((lastTime - time) / BLOCK_SECONDS));
    const hourOf = (time: number): string => String(Math.floor(time / HOUR));
    const floor =
      stored === null
        ? pathOf(FLOORS.swaps, { pool, from: blockOf(from), to: blockOf(to - 1) })
        : pathOf(FLOORS.candles, { pool, hours: String(stored), from: hourOf(from), to: hourOf(to) });
    comparisons.push(
      await compareLatency(
        few(context),
        `candles of ${timeframe}, floor`,
        timed(`${url}${path}${span}`, hasRows),
        timed(`${floorUrl}${floor}`, hasRows),
        TARGETS.candles,
      ),
    );
  }
  return comparisons;
}

async function compareWallet(
  context: BenchmarkContext,
  { wallet, smallWallet }: MarketDataset,
  { url, floorUrl }: Servers,
): Promise<Comparison[]> {
  const page = `${url}/api/v2.2/wallets/${wallet}/swaps?chain=eth&limit=${PAGE_SIZE}`;
  const floor = `${floorUrl}${pathOf(FLOORS.wallet, { wallet, limit: String(PAGE_SIZE) })}`;
  const profit = `${url}/api/v2.2/wallets/${smallWallet}/profitability?chain=eth`;
  const trades = `${floorUrl}${pathOf(FLOORS.beneficiary, { wallet: smallWallet })}`;
  return [
    await compareLatency(
      context,
      'swaps of a wallet, floor',
      timed(page, isPage),
      timed(floor, isPage),
      TARGETS.wallet,
    ),
    await compareLatency(
      few(context),
      'profit of a wallet, floor',
      timed(profit, hasRows),
      timed(trades, hasRows),
      TARGETS.profit,
    ),
  ];
}

async function comparePrices(
  context: BenchmarkContext,
  { pooled, tokens, lastBlock }: MarketDataset,
  { url, floorUrl }: Servers,
): Promise<Comparison[]> {
  const priceOf = (token: string) => timed(`${url}/api/v2.2/erc20/${token}/price?chain=eth`, isPrice);
  const windowStart = String(lastBlock - 200);
  const floor = timed(`${floorUrl}${pathOf(FLOORS.price, { token: pooled, block: windowStart })}`, hasRows);
  const [one = ''] = tokens;
  const batch = (count: number) => timedPrices(`${url}/api/v2.2/erc20/prices?chain=eth`, tokens.slice(0, count));
  return [
    await compareLatency(
      context,
      'price of a token with 100 pools, floor',
      priceOf(pooled),
      floor,
      TARGETS.price,
    ),
    await compareLatency(context, 'prices of 25 tokens, one', batch(25), priceOf(one), TARGETS.prices25),
    await compareLatency(context, 'prices of 100 tokens, one', batch(100), priceOf(one), TARGETS.prices100),
  ];
}

function timedPrices(url: string, tokens: readonly string[]): TimedRequest {
  const body = JSON.stringify({ tokens: tokens.map((address) => ({ token_address: address })) });
  return async () => {
    const before = performance.now();
    const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    const prices = (await response.json()) as readonly unknown[];
    const took = performance.now() - before;
    if (prices.length !== tokens.length)
      throw new BenchmarkError(`${url} gave ${JSON.stringify(prices).slice(0, 500)}`);
    return took;
  };
}

/** Some responses follow from 100,000 rows. */
function few(context: BenchmarkContext): BenchmarkContext {
  const { sizes } = context;
  return { ...context, sizes: { ...sizes, latencyRequests: Math.ceil(sizes.latencyRequests / 40) } };
}

function hasRows({ result }: Rows): boolean {
  return result.length > 0;
}

function isPage({ result }: Rows): boolean {
  return result.length === PAGE_SIZE;
}

function isPrice({ usdPrice }: { readonly usdPrice?: number }): boolean {
  return usdPrice !== undefined;
}
