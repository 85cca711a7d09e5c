import { type AskedPaths, CONNECTIONS, compareThroughput } from '../api-load.ts';
import { API_KEY, POOL_SIZE, pathOf, type ServedRoute, withApiServers } from '../api-servers.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { fillTradesDataset, type TradesDataset } from '../trades-dataset.ts';

const PAGE_SIZE = 100;
const SAMPLE = { address: `0x${'5a'.repeat(20)}`, token_id: '4242424242' };
const PAGE = `chain=eth&limit=${PAGE_SIZE}`;
const WINDOW = 'chain=eth&days=7';

const ROUTES = {
  collectionTrades: { path: '/api/v2.2/nft/:address/trades', query: PAGE, sample: { address: SAMPLE.address } },
  tokenTrades: { path: '/api/v2.2/nft/:address/:token_id/trades', query: PAGE, sample: SAMPLE },
  collectionPrices: { path: '/api/v2.2/nft/:address/price', query: WINDOW, sample: { address: SAMPLE.address } },
  tokenPrices: { path: '/api/v2.2/nft/:address/:token_id/price', query: WINDOW, sample: SAMPLE },
} as const satisfies Record<string, ServedRoute>;

/** Trades and sale prices of collections and tokens, from the program's API and from bare routes. */
export const nftRoutes: Benchmark = {
  name: 'nft-routes',
  title: 'Trades and sale prices against bare Hono routes with the same SQL',
  async run(context) {
    const scratch = await context.server.createDatabase();
    try {
      const { tradeRows: rows, busyTokenRows } = context.sizes;
      context.say(`  filling ${rows} rows`);
      const dataset = await fillTradesDataset(scratch.database, { rows, busyTokenRows });
      const comparisons = await withApiServers(scratch.url, Object.values(ROUTES), async (servers) => {
        const results = [];
        for (const asked of askedPaths(dataset)) {
          await requireContent(servers.url, asked);
          results.push(await compareThroughput(context, asked, servers));
        }
        return results;
      });
      return {
        comparisons,
        measures: [],
        notes: [
          `${dataset.rows} rows in ${dataset.collections.length} collections; the busy one has ${dataset.busyCollectionRows}, its busy token ${dataset.busyTokenRows}.`,
          `${dataset.collections.length} collections and ${dataset.tokens.length} tokens are asked for in turn; ${CONNECTIONS} connections, ${POOL_SIZE} database connections on each side; key check on in ours.`,
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
