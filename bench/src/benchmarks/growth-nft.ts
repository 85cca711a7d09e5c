import { datasets } from '@chainstead/datasets';
import type { Database } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync';
import type { Benchmark, BenchmarkContext, BenchmarkReport, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { compareOnce, compareTenths, fillTenths, notesOfTenths, TENTHS } from '../fill-tenths.ts';
import { NFT_LOGS_PER_BLOCK } from '../growing-nft-blocks.ts';
import { createGrowingNftChain } from '../growing-nft-chain.ts';

/** Of commit `9ee75c6`, with this chain: tables, indexes and all, measured at 1,000,000 logs. */
const BASELINE_BYTES: Readonly<Record<string, number>> = { nft_transfers: 479, nft_trades: 887 };
/** The same of each balance that transfers leave, which are not stored any more: indexes by sender and recipient took their place. */
const BASELINE_BALANCE_BYTES = 844;
const NAMES = ['nft-transfers', 'nft-trades'];

/** Whether the last NFT that moves costs what the first one did: the rows alone. */
export const growthNft: Benchmark = {
  name: 'growth-nft',
  title: 'The last tenth of large tables of NFTs against the first: logs/s, log, bytes',
  run: (context) =>
    fill(
      context,
      namedDatasets().map((dataset) => ({ ...dataset, derived: [], kept: [] })),
      ' (rows alone)',
    ),
};

/** The same with what the rows add up to. */
export const growthNftDays: Benchmark = {
  name: 'growth-nft-days',
  title: 'The last tenth of large tables of NFTs, with sale days, against the first: logs/s, log',
  run: (context) => fill(context, namedDatasets(), ' (with sale days)'),
};

function namedDatasets(): readonly Dataset[] {
  return datasets.filter(({ name }) => NAMES.includes(name));
}

function logsToFill({ sizes }: BenchmarkContext): number {
  const even = TENTHS * NFT_LOGS_PER_BLOCK;
  return even * Math.ceil(sizes.growthNftLogs / even);
}

async function fill(context: BenchmarkContext, kept: readonly Dataset[], suffix: string): Promise<BenchmarkReport> {
  const scratch = await context.server.createDatabase();
  const blocks = logsToFill(context) / NFT_LOGS_PER_BLOCK;
  const { chain, pool, prepare, close } = createGrowingNftChain(blocks);
  try {
    const { database } = scratch;
    const tenths = await fillTenths({
      chain,
      pool,
      database,
      datasets: kept,
      blocks,
      perBlock: NFT_LOGS_PER_BLOCK,
      unit: 'logs',
      prepare,
      say: context.say,
    });
    const isAlone = kept.every(({ derived = [] }) => derived.length === 0);
    const tables = isAlone ? ['nft_transfers', 'nft_trades'] : [];
    const bytes = await Promise.all(tables.map((table) => compareBytes(database, table)));
    return {
      comparisons: [...compareTenths(tenths, 'logs', suffix), ...bytes],
      measures: [],
      notes: [`${logsToFill(context)} logs, of mints, transfers and sales.`, ...notesOfTenths(tenths, 'logs', suffix)],
    };
  } finally {
    await close();
    await scratch.drop();
  }
}

async function compareBytes(database: Database, table: string): Promise<Comparison> {
  const [found] = await database.query<{ rows: number; bytes: number }>(
    `SELECT (SELECT count(*) FROM ${table})::int AS rows,
       (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
         WHERE oid = '${table}'::regclass OR oid IN (SELECT relid FROM pg_partition_tree('${table}')))::float8 AS bytes`,
  );
  const baseline = BASELINE_BYTES[table];
  if (found === undefined || found.rows === 0 || baseline === undefined)
    throw new BenchmarkError(`${table} has no rows to be measured`);
  const before = baseline + (table === 'nft_transfers' ? await balanceBytesARow(database, found.rows) : 0);
  return compareOnce(`bytes of a row of ${table} beside the baseline`, 'bytes', [found.bytes / found.rows, before], {
    atMost: 0.6,
  });
}

async function balanceBytesARow(database: Database, transfers: number): Promise<number> {
  const [held] = await database.query<{ balances: number }>(
    'SELECT count(*)::int AS balances FROM analytics.nft_owners',
  );
  return ((held?.balances ?? 0) * BASELINE_BALANCE_BYTES) / transfers;
}
