import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import type { BenchNode } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { alternate, type Side } from '../alternate.ts';
import { rangeArguments } from '../backfill-run.ts';
import { CHAIN_ID } from '../bench-chain.ts';
import type { Benchmark, BenchmarkContext, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { ERC20_ONLY, startChainstead } from '../chainstead-program.ts';
import { compareTenths, fillTenths, notesOfTenths, TENTHS, type Tenth } from '../fill-tenths.ts';
import { MARKET_DATASETS, seedTradedPools, tradedPools } from '../traded-pools.ts';
import { withNode } from '../with-node.ts';

const TRANSACTIONS_PER_BLOCK = 25;
const LOGS_PER_TRANSACTION = 4;
const LOGS_PER_BLOCK = TRANSACTIONS_PER_BLOCK * LOGS_PER_TRANSACTION;
const SIGNERS = 2_000;
/** Signing a chain takes long. */
const SHARE_OF_BLOCKS = 0.4;
const MARKET = tradedPools(0.11);
/** ERC-20 transfers, so that the tenths hold what a user's tables do. */
const STORED: ReadonlySet<string> = new Set(['erc20-transfers', ...MARKET_DATASETS]);
const WITH_MARKETS = { DATASETS: [...STORED].join(',') };

/** A backfill of transfers, swaps, states of pools and prices against one of transfers alone, and by tenths. */
export const marketsMixed: Benchmark = {
  name: 'markets-mixed',
  title:
    'Backfill with swaps, states and prices against ERC-20 transfers alone; the last tenth against the first',
  run: (context) => {
    const blocks = TENTHS * Math.floor((context.sizes.provenBlocks * SHARE_OF_BLOCKS) / TENTHS);
    const market = {
      transactionsPerBlock: TRANSACTIONS_PER_BLOCK,
      logsPerTransaction: LOGS_PER_TRANSACTION,
      signers: SIGNERS,
      market: MARKET,
    };
    return withNode(blocks, market, async (node) => {
      const swapCounts: number[] = [];
      const mixed = {
        name: 'all datasets of markets',
        env: WITH_MARKETS,
        inspect: async (database: Database) => void swapCounts.push(await countSwaps(database)),
      };
      const believed = { name: 'VERIFY_SENDERS=off', env: { ...WITH_MARKETS, VERIFY_SENDERS: 'off' } };
      const whole = { name: 'BACKFILL_PROOF=receipts', env: { ...WITH_MARKETS, BACKFILL_PROOF: 'receipts' } };
      const filtered = { name: 'ERC-20 alone, filtered logs', env: ERC20_ONLY };
      const proven = { name: 'ERC-20 alone, proven blocks', env: { ...ERC20_ONLY, BACKFILL_PROOF: 'receipts' } };
      const comparisons: Comparison[] = [];
      for (const [ours, peer, target] of [
        [mixed, filtered, { target: { atLeast: 0.5 } }],
        [believed, filtered, {}],
        [whole, filtered, {}],
        [mixed, proven, {}],
      ] as const) {
        const side = (one: Backfilled) => backfillOf(context, node, blocks, one);
        const measured = await alternate(context.runs, side(ours), side(peer), context.say);
        comparisons.push({
          ...{ name: `${ours.name}; ${peer.name}`, unit: 'logs/s' },
          ...{ ours: measured.first, peer: measured.second, ...target },
        });
      }
      const tenths = await fillMixed(context, node, blocks);
      const [swaps = 0] = swapCounts;
      return {
        comparisons: [...comparisons, ...compareTenths(tenths)],
        measures: [],
        notes: [
          `${blocks} blocks of ${LOGS_PER_BLOCK} logs; ${swaps} swaps are ${((100 * swaps) / blocks / LOGS_PER_BLOCK).toFixed(1)} % of the logs.`,
          ...notesOfTenths(tenths),
        ],
      };
    });
  },
};

interface Backfilled {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  inspect?(database: Database): Promise<void>;
}

/** `chainstead backfill` into a fresh database whose pools are known. Returns logs per second. */
function backfillOf(
  { server }: BenchmarkContext,
  node: BenchNode,
  blocks: number,
  { name, env, inspect }: Backfilled,
): Side<number> {
  return {
    name,
    async run() {
      const scratch = await server.createDatabase();
      try {
        await seedTradedPools(scratch.database, MARKET);
        await scratch.database.query(sql`CHECKPOINT`);
        const place = { databaseUrl: scratch.url, rpcUrls: [node.url], env };
        const backfill = startChainstead(['backfill', ...rangeArguments(blocks)], place);
        await backfill.finished();
        await inspect?.(scratch.database);
        return (blocks * LOGS_PER_BLOCK * 1_000) / backfill.elapsedMs();
      } finally {
        await scratch.drop();
      }
    },
  };
}

/** Fills one database upwards and measures each tenth of the blocks. */
async function fillMixed(
  { server, say }: BenchmarkContext,
  node: BenchNode,
  blocks: number,
): Promise<readonly Tenth[]> {
  const chain = { ...createChainRegistry().get(CHAIN_ID), swaps: 'all' as const };
  const metrics = createMetricsRegistry();
  const pool = createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger: silentLogger(), metrics });
  const scratch = await server.createDatabase();
  try {
    await pool.start();
    await seedTradedPools(scratch.database, MARKET);
    return await fillTenths({
      ...{ chain, pool, database: scratch.database, blocks, say },
      datasets: datasets.filter(({ name }) => STORED.has(name)),
      rowsPerBlock: LOGS_PER_BLOCK,
      pause: { after: blocks, run: async () => {} },
    });
  } finally {
    await scratch.drop();
    await pool.close();
  }
}

/** @throws BenchmarkError if none is stored or a state is missing: the times would not be comparable */
async function countSwaps(database: Database): Promise<number> {
  const [found] = await database.query<{ swaps: number; states: number }>(
    sql`SELECT (SELECT count(*) FROM swaps) AS swaps, (SELECT count(*) FROM pool_states) AS states`,
  );
  if (found === undefined || found.swaps === 0 || found.states === 0)
    throw new BenchmarkError('The backfill stored no swaps or no states of pools');
  return found.swaps;
}
