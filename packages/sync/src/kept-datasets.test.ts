import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Clock, createMetricsRegistry, mergeRanges, silentLogger, systemClock } from '@chainstead/core';
import { createUpstreamPool, type UpstreamPool } from '@chainstead/rpc';
import {
  type ChainNode,
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readChainStatuses } from './chain-status.ts';
import { createChainSync } from './chain-sync.ts';
import type { ChainSyncSettings } from './chain-sync-options.ts';
import { listCoverage } from './coverage.ts';
import type { Dataset } from './dataset.ts';
import { backfillRanges, verifyRanges } from './range-commands.ts';
import { createSyncMetrics } from './sync-metrics.ts';
import { createMarkTables, marks, misderived } from './testing/marks-dataset.ts';

const CHAIN_ID = 910_001;
const REORG_DEPTH_MAX = 8;
const CHAIN: Chain = createChainRegistry({
  additional: [
    {
      key: 'kept',
      id: CHAIN_ID,
      pollIntervalMs: 10,
      reorgDepthMax: REORG_DEPTH_MAX,
      headerHash: true,
      proofPolicy: 'strict',
    },
  ],
}).get(CHAIN_ID);
const SETTINGS: ChainSyncSettings = {
  startBlock: 1,
  endBlock: null,
  proof: 'strict',
  backfillProof: 'none',
  backfillOrder: 'newest-first',
  proverRate: 1_000,
};
/** Waits a twentieth of what it is told to. */
const clock: Clock = { now: () => Date.now() * 20, sleep: (ms, signal) => systemClock.sleep(ms / 20, signal) };

/** The same marks without anything derived, in a table of their own. */
const { derived: _, ...plain } = marks;
const early: Dataset = { ...plain, name: 'early-marks', table: { ...plain.table, name: 'early_marks' } } as Dataset;
const elsewhere: Dataset = {
  ...plain,
  name: 'elsewhere',
  table: { ...plain.table, name: 'no_such_table' },
  topics: () => [],
} as Dataset;

/** The same, with state that follows from them. */
const counted: Dataset = {
  ...early,
  derived: [
    {
      name: 'early-count',
      version: 1,
      tables: ['early_count'],
      added: (rows) => [countRows(rows, '+')],
      removed: (rows) => [countRows(rows, '-')],
    },
  ],
};

function countRows(rows: string, sign: '+' | '-'): string {
  return `INSERT INTO early_count AS kept SELECT chain_id, ${sign}count(*) FROM ${rows} AS changed GROUP BY chain_id
    ON CONFLICT (chain_id) DO UPDATE SET marks = kept.marks + excluded.marks`;
}

let scratch: ScratchDatabase;
let pool: UpstreamPool;
let node: ChainNode;
const scripted = createScriptedChain({ seed: 7, chainId: CHAIN_ID, wallets: 20 });
const registry = createMetricsRegistry();
const metrics = createSyncMetrics(registry);

beforeAll(async () => {
  scratch = await createScratchDatabase();
  await createMarkTables(scratch.database);
  await scratch.database.query('CREATE TABLE early_marks (LIKE marks INCLUDING ALL)');
  await scratch.database.query('CREATE TABLE early_count (chain_id bigint PRIMARY KEY, marks bigint NOT NULL)');
  scripted.mine(40);
  node = await serveScriptedChain(scripted);
  pool = createUpstreamPool({
    chain: CHAIN,
    upstreams: [{ url: node.url }],
    logger: silentLogger(),
    metrics: registry,
  });
  await pool.start();
});
afterAll(async () => {
  await pool.close();
  await node.close();
  await scratch.drop();
});

function ingest(datasets: readonly Dataset[]): { stop(): Promise<void> } {
  const shared = { chain: CHAIN, pool, database: scratch.database, logger: silentLogger(), metrics, clock };
  const abort = new AbortController();
  const finished = createChainSync({ ...shared, datasets, settings: SETTINGS }).run(abort.signal);
  const stop = async () => {
    abort.abort();
    await finished;
  };
  onTestFinished(stop);
  return { stop };
}

async function coveredBy(dataset: Dataset) {
  const own = (await listCoverage(scratch.database, CHAIN.id)).filter((one) => one.dataset === dataset.name);
  return mergeRanges(own.map(({ range }) => range));
}

const untilCovered = (dataset: Dataset, to: number) =>
  vi.waitFor(async () => expect(await coveredBy(dataset)).toEqual([{ from: 1, to }]), {
    timeout: 20_000,
    interval: 30,
  });

describe('datasets of a chain', () => {
  it('come to cover all that is followed when they are added later, and are no repairs', async () => {
    const first = ingest([early]);
    await untilCovered(early, 40);
    scripted.mine(15);
    await untilCovered(early, 55);
    await first.stop();

    ingest([early, marks as Dataset]);
    await vi.waitFor(
      async () => expect((await coveredBy(marks as Dataset)).at(0)).toEqual({ from: 1, to: 55 - REORG_DEPTH_MAX }),
      { timeout: 20_000, interval: 30 },
    );
    scripted.mine(REORG_DEPTH_MAX);
    await untilCovered(marks as Dataset, scripted.head);
    const rows = await scratch.database.query(
      'SELECT (SELECT count(*)::int FROM marks) AS marks, (SELECT count(*)::int FROM early_marks) AS early',
    );
    const expected = scripted.expectedTransfers({ from: 1, to: scripted.head }).length;
    expect(rows).toEqual([{ marks: expected, early: expected }]);
    expect(await misderived(scratch.database, CHAIN_ID)).toEqual([]);
    expect(await scratch.database.query('SELECT * FROM upstream_faults')).toEqual([]);
  });

  it('come to have what is derived from them when that is added later, and status and metrics say so', async () => {
    const stored = 'SELECT count(*) AS marks FROM early_marks';
    const untilCounted = async (block: number) => {
      await untilCovered(counted, block);
      await vi.waitFor(
        async () =>
          expect(await scratch.database.query('SELECT marks FROM early_count')).toEqual(
            await scratch.database.query(stored),
          ),
        { timeout: 20_000, interval: 30 },
      );
    };
    const [rows] = await scratch.database.query<{ marks: number }>(stored);
    expect(rows?.marks).toBeGreaterThan(0);
    const session = ingest([counted]);
    await untilCounted(scripted.head);
    scripted.mine(3);
    await untilCounted(scripted.head);
    const [status] = await readChainStatuses(scratch.database, [counted], [CHAIN]);
    expect(status?.building).toEqual([]);
    await vi.waitFor(async () =>
      expect(await registry.metrics()).toContain(
        'chainstead_sync_derived_built_ratio{chain="kept",state="early-count"} 1',
      ),
    );
    await session.stop();
  });

  it('are those that decode something there: of others there is neither coverage nor a gap', async () => {
    const options = {
      chain: CHAIN,
      pool,
      database: scratch.database,
      logger: silentLogger(),
      metrics,
      clock,
      datasets: [early, elsewhere],
      proof: 'strict' as const,
      backfillProof: 'none' as const,
    };
    const never = new AbortController().signal;
    await backfillRanges(options, [{ from: 1, to: 20 }], never);
    const session = ingest([early, elsewhere]);
    scripted.mine(1);
    await untilCovered(early, scripted.head);
    await session.stop();
    expect(await coveredBy(elsewhere)).toEqual([]);
    const [status] = await readChainStatuses(scratch.database, [early, elsewhere], [CHAIN]);
    expect(status?.gaps).toEqual([]);
    expect((await verifyRanges(options, [{ from: 1, to: 20 }], never)).uncovered).toEqual([]);
  });
});
