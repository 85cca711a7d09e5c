import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Address } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { API_KEY, addressOf, pathOf } from '../api-servers.ts';
import type { Benchmark, BenchmarkContext } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { compareOnce, compareTenths, fillTenths, notesOfTenths, TENTHS, type Tenth } from '../fill-tenths.ts';
import { createGrowingChain, type GrowingWallets, ORDINARY_ROWS, TRANSFERS_PER_BLOCK } from '../growing-chain.ts';
import { quantile } from '../statistics.ts';
import { PAGE_SIZE, timePage, WALLET_PAGE } from '../wallet-page.ts';

const ROWS_PER_BLOCK = 2 * TRANSFERS_PER_BLOCK;
/** Pages are measured when the table has so many rows, or half of all, and at the end. */
const REFERENCE_ROWS = 1_000_000;
/** Where the disk is too small for more. */
const SMALLER_ROWS = 30_000_000;
/** Limits for the bytes of a row, half as much again as measured, and for the WAL next to the rows. */
const DISK_BYTES_PER_ROW = 650;
const DISK_BYTES_OF_LOG = 10e9;
/** Two rows with all of their indexes. */
const BYTES_PER_TRANSFER_MAX = 520;
const MEGABYTE = 1e6;

const PAGE_KINDS = ['whale', 'busy', 'ordinary', 'empty'] as const;

/** Median milliseconds of a page, by kind of wallet. */
type PageTimes = Readonly<Record<(typeof PAGE_KINDS)[number], number>>;

/** Whether the last row costs as much as the first one: a backfill of a chain with a growing number of wallets, compared by tenths. */
export const growth: Benchmark = {
  name: 'growth',
  title: 'The last tenth of a large table against the first: rows/s, log, pages, bytes',
  async run(context) {
    const rows = await rowsToFill(context);
    const scratch = await context.server.createDatabase();
    try {
      const { database } = scratch;
      const bytesBefore = await sizeOf(database);
      const { tenths, reference, end } = await fill(context, { url: scratch.url, database }, rows);
      const bytesPerTransfer = ((await sizeOf(database)) - bytesBefore) / (rows / 2);
      return {
        comparisons: [
          ...compareTenths(tenths),
          ...PAGE_KINDS.map((kind) =>
            compareOnce(
              `page of a wallet (${kind}) compared with the small table, p50`,
              'ms',
              [end[kind], reference[kind]],
              {
                atMost: 1.5,
              },
            ),
          ),
        ],
        measures: [
          {
            name: 'bytes of a transfer',
            unit: 'bytes',
            samples: [bytesPerTransfer],
            target: { atMost: BYTES_PER_TRANSFER_MAX },
          },
        ],
        notes: [
          `${rows} rows of ${context.sizes.growthRows} requested. Pages are compared with those at ${referenceBlocksOf(rows) * ROWS_PER_BLOCK} rows.`,
          ...notesOfTenths(tenths),
        ],
      };
    } finally {
      await scratch.drop();
    }
  },
};

/** The requested number, or less if the disk of the temporary folder, with the embedded server, is too small. */
async function rowsToFill({ sizes, say }: BenchmarkContext): Promise<number> {
  const { bavail, bsize } = await statfs(tmpdir());
  const free = bavail * bsize;
  const fits = (rows: number): boolean => rows * DISK_BYTES_PER_ROW + DISK_BYTES_OF_LOG <= free;
  const rows = fits(sizes.growthRows) ? sizes.growthRows : Math.min(sizes.growthRows, SMALLER_ROWS);
  if (!fits(rows)) throw new BenchmarkError(`${rows} rows don't fit into ${Math.round(free / MEGABYTE)} MB`);
  const even = TENTHS * ROWS_PER_BLOCK * Math.floor(rows / TENTHS / ROWS_PER_BLOCK);
  say(`  filling ${even} rows, ${Math.round(free / MEGABYTE)} MB of disk are free`);
  return even;
}

/** Backfills all blocks; and measures pages on the way and at the end. */
async function fill(
  context: BenchmarkContext,
  place: { readonly url: string; readonly database: Database },
  rows: number,
): Promise<{ tenths: readonly Tenth[]; reference: PageTimes; end: PageTimes }> {
  const blocks = rows / ROWS_PER_BLOCK;
  const referenceBlocks = referenceBlocksOf(rows);
  const { chain, pool, wallets } = createGrowingChain({ blocks, referenceBlocks });
  let reference: PageTimes | undefined;
  const tenths = await fillTenths({
    chain,
    pool,
    database: place.database,
    datasets: datasets.filter(({ name }) => name === 'erc20-transfers'),
    blocks,
    rowsPerBlock: ROWS_PER_BLOCK,
    pause: {
      after: referenceBlocks,
      async run() {
        reference = await timePages(context, place, wallets, wallets.ordinaryAtReference);
      },
    },
    say: context.say,
  });
  await requireRows(place.database, rows);
  if (reference === undefined) throw new BenchmarkError('The pages of the small table were not measured');
  return { tenths, reference, end: await timePages(context, place, wallets, wallets.ordinaryAtEnd) };
}

function referenceBlocksOf(rows: number): number {
  return Math.ceil(Math.min(REFERENCE_ROWS, rows / 2) / ROWS_PER_BLOCK);
}

/** Pages of each kind of wallet from the program's API, one after the other, each wallet in turn. */
async function timePages(
  { sizes }: BenchmarkContext,
  { url: databaseUrl, database }: { readonly url: string; readonly database: Database },
  wallets: GrowingWallets,
  ordinary: readonly Address[],
): Promise<PageTimes> {
  // As autovacuum does now and then.
  await database.query(sql`ANALYZE`);
  const env = { PORT: '0', API_KEYS: API_KEY };
  const program = startChainstead(['start', '--roles', 'api'], {
    databaseUrl,
    rpcUrls: ['http://127.0.0.1:9'],
    env,
  });
  try {
    const url = await addressOf(program);
    const time = async (requested: readonly Address[], rows: number): Promise<number> => {
      const paths = requested.map((address) => `${url}${pathOf(WALLET_PAGE, { address })}`);
      for (const path of paths) await timePage(path, rows);
      const times: number[] = [];
      for (let request = 0; request < sizes.latencyRequests; request++)
        times.push(await timePage(paths[request % paths.length] ?? url, rows));
      return quantile(times, 0.5);
    };
    // Request handlers are compiled after a few hundred requests.
    await time(wallets.busy, PAGE_SIZE);
    return {
      whale: await time(wallets.whale, PAGE_SIZE),
      busy: await time(wallets.busy, PAGE_SIZE),
      ordinary: await time(ordinary, ORDINARY_ROWS),
      empty: await time(wallets.empty, 0),
    };
  } finally {
    await program.stop();
  }
}

async function requireRows(database: Database, rows: number): Promise<void> {
  const [counted] = await database.query<{ rows: number }>(
    sql`SELECT count(*) AS rows FROM erc20_transfer_sides`,
  );
  if (counted?.rows !== rows) throw new BenchmarkError(`${counted?.rows} rows were written instead of ${rows}`);
}

/** Size of the whole database, so that all tables of a layout count. */
async function sizeOf(database: Database): Promise<number> {
  const [row] = await database.query<{ bytes: string }>(
    sql`SELECT pg_database_size(current_database())::text AS bytes`,
  );
  return Number(row?.bytes);
}
