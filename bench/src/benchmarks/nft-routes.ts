import { type AskedPaths, CONNECTIONS, compareThroughput } from '../api-load.ts';
import { API_KEY, type ApiServers, POOL_SIZE, pathOf, type ServedRoute, withApiServers } from '../api-servers.ts';
import { fillBaselineTrades } from '../baseline-tables.ts';
import type { Benchmark, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { fillTradesDataset, type TradesDataset } from '../trades-dataset.ts';

const PAGE_SIZE = 100;
const PAGE = `chain=eth&limit=${PAGE_SIZE}`;
const WINDOW = 'chain=eth&days=7';
const TARGETS = { baseline: 1.8, floor: 0.6 };

const TRADE = `trade.block_number, trade.transaction_index, trade.log_index, trade.item, coalesce(trade.token_ids, ARRAY[trade.token_id]) AS token_ids,
  trade.price, trade.block_timestamp::text AS block_timestamp, ${['token_address', 'marketplace_address', 'seller', 'buyer', 'payment_token', 'transaction_hash'].map((column) => `'0x' || encode(trade.${column}, 'hex') AS ${column}`).join(', ')}`;
const OF_COLLECTION = `collection_key = address_key($1) AND CASE WHEN token_address = $1 THEN true END IS NOT NULL AND chain_id = 1`;

const ROUTES = {
  collectionTrades: {
    path: '/api/v2.2/nft/:address/trades',
    query: PAGE,
    statement: tradesOf(`marketplace = 'opensea' AND leads`),
  },
  tokenTrades: {
    path: '/api/v2.2/nft/:address/:token_id/trades',
    query: PAGE,
    statement: tradesOf(
      'token_id_key(token_id) = token_id_key($2::numeric) AND CASE WHEN token_id = $2::numeric THEN true END IS NOT NULL',
    ),
  },
  collectionPrices: { path: '/api/v2.2/nft/:address/price', query: WINDOW, statement: pricesOf('-1') },
  tokenPrices: { path: '/api/v2.2/nft/:address/:token_id/price', query: WINDOW, statement: pricesOf('$2::numeric') },
} as const satisfies Record<string, ServedRoute>;

function tradesOf(condition: string): string {
  return `SELECT ${TRADE}, '0x' || encode(block_hash, 'hex') AS block_hash
    FROM (SELECT * FROM nft_trades WHERE ${OF_COLLECTION} AND ${condition}
      ORDER BY block_number DESC, transaction_index DESC, log_index DESC, item DESC LIMIT (SELECT ${PAGE_SIZE})) AS trade
    CROSS JOIN LATERAL (SELECT block_hash FROM blocks WHERE chain_id = 1 AND block_number = trade.block_number LIMIT 1) AS block`;
}

/** The days' sums and the three sales that are shown; without the window's first, partial day. */
function pricesOf(tokenId: string): string {
  const place = (which: string) => `${which}_block, ${which}_transaction, ${which}_log, ${which}_item`;
  return `WITH summary AS MATERIALIZED (
      SELECT sum(sales) AS sales, sum(total) AS total, min(ARRAY[lowest, ${place('lowest')}]::numeric[]) AS lowest,
        max(ARRAY[highest, ${place('highest')}]::numeric[]) AS highest, max(ARRAY[0, ${place('latest')}]::numeric[]) AS latest
      FROM nft_sale_days WHERE token_address = $1 AND chain_id = 1 AND token_id = ${tokenId} AND day > current_date - 7)
    SELECT summary.sales, summary.total, shown.name, ${TRADE}
    FROM summary CROSS JOIN LATERAL (VALUES ('last', latest), ('lowest', lowest), ('highest', highest)) AS shown(name, place)
    CROSS JOIN LATERAL (SELECT * FROM nft_trades WHERE ${OF_COLLECTION} AND block_number = place[2]::bigint
      AND transaction_index = place[3]::integer AND log_index = place[4]::integer AND item = place[5]::integer LIMIT 1) AS trade`;
}

/** Trades and sale prices of collections and tokens, from the program's API, from the baseline's and from a floor. */
export const nftRoutes: Benchmark = {
  name: 'nft-routes',
  title: 'Trades and sale prices against the baseline, and a floor that reads and sends rows',
  async run(context) {
    const scratch = await context.server.createDatabase();
    try {
      const { tradeRows: rows, busyTokenRows } = context.sizes;
      context.say(`  filling ${rows} rows`);
      const dataset = await fillTradesDataset(scratch.database, { rows, busyTokenRows });
      const baselineUrl = await fillBaselineTrades(scratch.database, scratch.url);
      const compare = async (servers: ApiServers): Promise<Comparison[]> => {
        const results: Comparison[] = [];
        for (const asked of askedPaths(dataset)) {
          await requireContent(servers.url, asked);
          results.push(...(await compareThroughput(context, asked, servers, TARGETS)));
        }
        return results;
      };
      const comparisons = await withApiServers(scratch.url, Object.values(ROUTES), compare, baselineUrl);
      return {
        comparisons,
        measures: [],
        notes: [
          `${dataset.rows} rows in ${dataset.collections.length} collections; the busy one has ${dataset.busyCollectionRows}, its busy token ${dataset.busyTokenRows}.`,
          'The baseline reads the same rows from a table of its own layout.',
          `${dataset.collections.length} collections and ${dataset.tokens.length} tokens are asked for in turn; ${CONNECTIONS} connections, ${POOL_SIZE} database connections on each side; key check on in the program's.`,
        ],
      };
    } finally {
      await scratch.drop();
    }
  },
};

function askedPaths({ collections, tokens }: TradesDataset): AskedPaths[] {
  const ofCollections = (route: ServedRoute): string[] => collections.map((address) => pathOf(route, { address }));
  const ofTokens = (route: ServedRoute): string[] =>
    tokens.map(({ address, tokenId }) => pathOf(route, { address, token_id: tokenId }));
  return [
    { name: 'trades of collections', paths: ofCollections(ROUTES.collectionTrades) },
    { name: 'trades of tokens', paths: ofTokens(ROUTES.tokenTrades) },
    { name: 'sale prices of collections', paths: ofCollections(ROUTES.collectionPrices) },
    { name: 'sale prices of tokens', paths: ofTokens(ROUTES.tokenPrices) },
  ];
}

/** The busiest subject must have a full page, or a price in dollars: an empty answer is quick. */
async function requireContent(url: string, { name, paths }: AskedPaths): Promise<void> {
  const response = await fetch(`${url}${paths[0]}`, { headers: { 'x-api-key': API_KEY } });
  const answer = (await response.json()) as {
    readonly result?: readonly unknown[];
    readonly last_sale?: { readonly usd_price_at_sale: string | null } | null;
  };
  if (answer.result?.length === PAGE_SIZE || typeof answer.last_sale?.usd_price_at_sale === 'string') return;
  throw new BenchmarkError(`${name}: ${response.status} ${JSON.stringify(answer).slice(0, 1_000)}`);
}
