import { type ApiDataset, fillApiDataset } from '../api-dataset.ts';
import { CONNECTIONS, compareThroughput } from '../api-load.ts';
import { type ApiServers, POOL_SIZE, pathOf, type ServedRoute, withApiServers } from '../api-servers.ts';
import type { Benchmark, BenchmarkContext, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { compareLatency } from '../compare-latency.ts';
import { PAGE_SIZE, readAnswer, timePage, WALLET_PAGE, type WalletPage } from '../wallet-page.ts';

const DEEP_PAGE = 1_000;
const RARE_ROWS = 3;
const FLOOR_TARGET = { atLeast: 0.6 };

const WALLET_ROUTE: ServedRoute = {
  ...WALLET_PAGE,
  statement: `SELECT block_number, transaction_index, log_index, direction, '0x' || encode(token, 'hex') AS token,
      '0x' || encode(counterparty, 'hex') AS counterparty, value, '0x' || encode(transaction_hash, 'hex') AS transaction_hash,
      '0x' || encode(block_hash, 'hex') AS block_hash, block_timestamp::text AS block_timestamp
    FROM (SELECT * FROM erc20_transfer_sides WHERE account_key = address_key($1) AND chain_id = 1
      AND CASE WHEN account = $1 THEN true END IS NOT NULL
      ORDER BY block_number DESC, transaction_index DESC, log_index DESC LIMIT (SELECT ${PAGE_SIZE})) AS transfer
    CROSS JOIN LATERAL (SELECT block_hash, block_timestamp FROM blocks
      WHERE chain_id = 1 AND block_number = transfer.block_number LIMIT 1) AS block`,
};

/** Pages of wallets from the program's API and from a floor. Deep pages and a rare token against first pages. */
export const api: Benchmark = {
  name: 'api',
  title: 'Pages of 100 transfers against a floor that reads and sends their rows',
  async run(context) {
    const scratch = await context.server.createDatabase();
    try {
      context.say(`  filling ${context.sizes.apiRows} rows`);
      const { apiRows: rows, apiWhaleRows: whaleRows } = context.sizes;
      const dataset = await fillApiDataset(scratch.database, { rows, whaleRows, rareRows: RARE_ROWS });
      const compare = async (servers: ApiServers): Promise<Comparison[]> => {
        const paths = dataset.busyWallets.map((address) => pathOf(WALLET_ROUTE, { address }));
        return [
          await compareThroughput(
            context,
            { name: 'pages of busy wallets, floor', paths },
            servers,
            FLOOR_TARGET,
          ),
          await comparePages(context, dataset, servers.url),
          await compareRareToken(context, dataset, servers.url),
        ];
      };
      const comparisons = await withApiServers(scratch.url, [WALLET_ROUTE], compare);
      return {
        comparisons,
        measures: [],
        notes: [
          `${dataset.rows} rows; ${dataset.busyWallets.length} busy wallets; the huge wallet has ${dataset.whaleRows}.`,
          `${CONNECTIONS} connections, ${POOL_SIZE} database connections on each side; key check on in the program's.`,
        ],
      };
    } finally {
      await scratch.drop();
    }
  },
};

async function comparePages(context: BenchmarkContext, dataset: ApiDataset, url: string): Promise<Comparison> {
  const first = `${url}${pathOf(WALLET_ROUTE, { address: dataset.whale })}`;
  let deep = first;
  for (let page = 2; page <= DEEP_PAGE; page++) {
    const { cursor } = await readAnswer<WalletPage>(deep);
    if (cursor === null) throw new BenchmarkError(`The huge wallet has only ${page - 1} pages`);
    deep = `${first}&cursor=${encodeURIComponent(cursor)}`;
  }
  const page = (url: string) => () => timePage(url, PAGE_SIZE);
  return compareLatency(context, `page ${DEEP_PAGE} compared with page 1`, page(deep), page(first), 1.2);
}

function compareRareToken(context: BenchmarkContext, dataset: ApiDataset, url: string): Promise<Comparison> {
  const first = `${url}${pathOf(WALLET_ROUTE, { address: dataset.whale })}`;
  const rare = `${first}&contract_addresses%5B0%5D=${dataset.rareToken}`;
  return compareLatency(
    context,
    'rare token compared with an unfiltered page',
    () => timePage(rare, RARE_ROWS),
    () => timePage(first, PAGE_SIZE),
    2,
  );
}
