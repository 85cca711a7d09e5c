import { POOL_SIZE, pathOf, withApiServers } from '../api-servers.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { compareLatency } from '../compare-latency.ts';
import { fillContractDataset } from '../contract-dataset.ts';
import { CONTRACT_TABLE } from '../contract-run.ts';
import { timed } from '../timed-request.ts';
import { PAGE_SIZE, readAnswer } from '../wallet-page.ts';

const OWNER_ROWS = 2_000;
const AT_MOST = 2;
const hex = (column: string): string => `'0x' || encode(${column}, 'hex') AS ${column}`;

/** Served by the program, and read by the floor. */
const ROUTES = {
  program: { path: '/api/v2.2/contracts/token/transfer', query: `chain=eth&limit=${PAGE_SIZE}` },
  floor: {
    path: '/api/v2.2/contracts/token/transfer/:owner',
    query: '',
    statement: `SELECT block_number, block_time, transaction_index, log_index, ${['transaction_hash', 'contract', 'from_', 'to_'].map(hex).join(', ')}, value::text
      FROM ${CONTRACT_TABLE} AS event WHERE event.to_ = $1 AND chain_id = 1
      ORDER BY event.to_ DESC, chain_id DESC, block_number DESC, transaction_index DESC, log_index DESC LIMIT ${PAGE_SIZE}`,
  },
} as const;

interface Page {
  readonly result: readonly { readonly transaction_hash: string }[];
}

/** A page of an event with a filter that has an index, from the program's API and from a floor that reads and sends the same rows. */
export const contractPages: Benchmark = {
  name: 'contract-pages',
  title:
    'A page of an event of a contract, filtered by an indexed parameter, against a floor that reads and sends its rows',
  async run(context) {
    const { contractRowsServed: rows } = context.sizes;
    const scratch = await context.server.createDatabase();
    try {
      context.say(`  filling ${rows} rows`);
      const { owner } = await fillContractDataset(scratch.database, { rows, ownerRows: OWNER_ROWS });
      return await withApiServers(scratch.url, [ROUTES.floor], async (servers) => {
        const url = `${servers.url}${pathOf(ROUTES.program, {})}&to_=${owner}`;
        const floorUrl = `${servers.floorUrl}${pathOf(ROUTES.floor, { owner })}`;
        await requireSameRows(url, floorUrl);
        const name = `page of ${PAGE_SIZE} events by an indexed parameter, floor`;
        return {
          comparisons: [
            await compareLatency(context, name, timed(url, isPage), timed(floorUrl, isPage), AT_MOST),
          ],
          measures: [],
          notes: [
            `${rows} rows, ${OWNER_ROWS} of them of the requested owner. Both sides send the same rows.`,
            `${POOL_SIZE} database connections on each side; key check on in the program's.`,
          ],
        };
      });
    } finally {
      await scratch.drop();
    }
  },
};

const isPage = ({ result }: Page): boolean => result.length === PAGE_SIZE;

async function requireSameRows(url: string, floorUrl: string): Promise<void> {
  const [ours, floor] = await Promise.all([readAnswer<Page>(url), readAnswer<Page>(floorUrl)]);
  const hashesOf = ({ result }: Page): string => result.map(({ transaction_hash: hash }) => hash).join(' ');
  if (hashesOf(ours) !== hashesOf(floor))
    throw new BenchmarkError(`${url} and ${floorUrl} return different rows`);
}
