import { createChainRegistry } from '@chainstead/chains';
import { MANY_COLLECTION, MANY_SALES, seedManyTrades } from '@chainstead/nft/testing';
import { POOL_SIZE, pathOf, withApiServers } from '../api-servers.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { compareLatency } from '../compare-latency.ts';
import { timed } from '../timed-request.ts';
import { PAGE_SIZE, readAnswer } from '../wallet-page.ts';

const AT_MOST = 2;
const DAYS = 30;
const hex = (column: string): string => `'0x' || encode(${column}, 'hex') AS ${column}`;
const SALE = `${['transaction_hash', 'seller', 'buyer'].map(hex).join(', ')}, price::text, token_id::text, trade.block_timestamp`;
const OF_COLLECTION = `collection_key = address_key($1) AND token_address = $1 AND trade.chain_id = 1`;
const picked = (name: string, order: string): string => `(SELECT '${name}' AS sale, ${name}_block AS block
  FROM nft_sale_days WHERE token_address = $1 AND chain_id = 1 AND token_id = -1 AND day >= now()::date - ${DAYS} ORDER BY ${order} LIMIT 1)`;

/** Served by the program, and read by the floor. */
const ROUTES = {
  trades: {
    path: '/api/v2.2/nft/:token/trades',
    query: `chain=eth&marketplace=all&limit=${PAGE_SIZE}`,
    statement: `SELECT ${SALE}, ${hex('marketplace_address')}, marketplace, token_ids, amounts, trade.block_number, transaction_index, log_index, ${hex('block_hash')}
      FROM (SELECT * FROM nft_trades AS trade WHERE ${OF_COLLECTION} AND leads
        ORDER BY block_number DESC, transaction_index DESC, log_index DESC, item DESC LIMIT (SELECT ${PAGE_SIZE})) AS trade
      CROSS JOIN LATERAL (SELECT block_hash FROM blocks WHERE chain_id = 1 AND block_number = trade.block_number LIMIT 1) AS block`,
  },
  prices: {
    path: '/api/v2.2/nft/:token/price',
    query: `chain=eth&days=${DAYS}`,
    statement: `SELECT sale, ${SALE} FROM (${picked('latest', 'day DESC')} UNION ALL ${picked('lowest', 'lowest')} UNION ALL ${picked('highest', 'highest DESC')}) AS picked
      CROSS JOIN LATERAL (SELECT * FROM nft_trades AS trade WHERE ${OF_COLLECTION} AND block_number = picked.block LIMIT 1) AS trade`,
  },
} as const;

interface Sale {
  readonly transaction_hash: string;
}

interface Rows {
  readonly result: readonly Sale[];
}

/** A page of trades and the sale prices of a collection, from the program's API and from a floor that reads and sends their rows. */
export const tradePages: Benchmark = {
  name: 'trade-pages',
  title: 'A page of trades and the sale prices of a collection, against a floor that reads and sends their rows',
  async run(context) {
    const scratch = await context.server.createDatabase();
    try {
      context.say(`  filling ${MANY_SALES} sales`);
      const now = Math.floor(Date.now() / 1_000);
      await seedManyTrades(scratch.database, createChainRegistry().get('eth'), now, [MANY_SALES / 2]);
      const place = { token: MANY_COLLECTION };
      return await withApiServers(scratch.url, Object.values(ROUTES), async ({ url, floorUrl }) => {
        const pages = [url, floorUrl].map((server) => `${server}${pathOf(ROUTES.trades, place)}`);
        const prices = [url, floorUrl].map((server) => `${server}${pathOf(ROUTES.prices, place)}`);
        const [page = '', floorPage = ''] = pages;
        const [price = '', floorPrice = ''] = prices;
        const [ours, floor] = await Promise.all(pages.map((at) => readAnswer<Rows>(at)));
        requireSame(ours?.result, floor?.result);
        const [{ last_sale: last }, sales] = await Promise.all([
          readAnswer<SalePrices>(price),
          readAnswer<Rows>(floorPrice),
        ]);
        requireSame([last], sales.result.slice(0, 1));
        const isPage = ({ result }: Rows): boolean => result.length === PAGE_SIZE;
        const isPrice = (answer: SalePrices): boolean =>
          answer.last_sale.transaction_hash === last.transaction_hash;
        const isThree = ({ result }: Rows): boolean => result.length === 3;
        return {
          comparisons: [
            await compareLatency(
              context,
              `page of ${PAGE_SIZE} trades, floor`,
              timed(page, isPage),
              timed(floorPage, isPage),
              AT_MOST,
            ),
            await compareLatency(
              context,
              'sale prices of a collection, floor',
              timed(price, isPrice),
              timed(floorPrice, isThree),
              AT_MOST,
            ),
          ],
          measures: [],
          notes: [
            `${MANY_SALES} sales and 20,000 bundles of one collection. The floor of sale prices picks three sales from the sums of ${DAYS} days.`,
            `${POOL_SIZE} database connections on each side; key check on in the program's.`,
          ],
        };
      });
    } finally {
      await scratch.drop();
    }
  },
};

interface SalePrices {
  readonly last_sale: Sale;
}

function requireSame(ours: readonly Sale[] = [], floor: readonly Sale[] = []): void {
  const hashesOf = (rows: readonly Sale[]): string => rows.map(({ transaction_hash: hash }) => hash).join(' ');
  if (ours.length === 0 || hashesOf(ours) !== hashesOf(floor))
    throw new BenchmarkError(
      `The program and its floor return different sales: ${hashesOf(ours)} and ${hashesOf(floor)}`,
    );
}
