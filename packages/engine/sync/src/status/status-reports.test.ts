import { createChainRegistry } from '@chainstead/chains';
import {
  type ChainId,
  createMetricsRegistry,
  parseChainId,
  parseHash,
  silentLogger,
  systemClock,
} from '@chainstead/core';
import { sql } from '@chainstead/db';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { createHistorySources, type HistorySources } from '@chainstead/sources';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test, vi } from 'vitest';
import { createSyncMetrics } from '../sync-metrics.ts';
import { readChainStatuses } from './chain-status.ts';
import {
  beginProgress,
  clearStartFailure,
  saveStall,
  saveStartFailure,
  startStatusReports,
} from './status-reports.ts';

const settings = {
  startBlock: null,
  endBlock: null,
  proof: 'strict',
  backfillProof: 'none',
  backfillOrder: 'newest-first',
  verifyBlocksPerSecond: 0,
} as const;

const scratch = scratchOfFile();

/** Creates a chain whose row was last updated this many seconds ago. */
async function chainOfAge(id: number, seconds: number): Promise<ChainId> {
  await scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, updated_at)
     VALUES (${id}, 0, 0, now() - ${seconds} * interval '1 second')`,
  );
  return parseChainId(id);
}

async function stallOf(chainId: ChainId): Promise<unknown> {
  const [row] = await scratch.database.query(
    sql`SELECT stall_reason FROM sync_chains WHERE chain_id = ${chainId}`,
  );
  return row?.stallReason;
}

test('why a chain cannot begin is written down while nobody leads it, and taken back', async () => {
  const chainId = await chainOfAge(7_001, 60);
  await saveStartFailure(scratch.database, chainId, 'every upstream is down');
  expect(await stallOf(chainId)).toBe('every upstream is down');
  await clearStartFailure(scratch.database, chainId, 'every upstream is down');
  expect(await stallOf(chainId)).toBeNull();
});

test('a process that cannot begin says nothing of a chain that another one leads', async () => {
  const chainId = await chainOfAge(7_002, 3);
  await saveStartFailure(scratch.database, chainId, 'every upstream is down');
  expect(await stallOf(chainId)).toBeNull();
});

test('a report takes back its own reason only', async () => {
  const chainId = await chainOfAge(7_003, 60);
  await saveStall(scratch.database, chainId, 'the leader has a reason of its own');
  await clearStartFailure(scratch.database, chainId, 'every upstream is down');
  expect(await stallOf(chainId)).toBe('the leader has a reason of its own');
});

test('a chain whose sessions fail again and again is told to stand still', async () => {
  const chain = createChainRegistry().find('eth');
  if (chain === null) throw new Error('eth is known');
  await scratch.database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed) VALUES (1, 0, 0)`,
  );
  const registry = createMetricsRegistry();
  const logger = silentLogger();
  const pool = createUpstreamPool({
    chain,
    upstreams: [{ url: 'http://127.0.0.1:9' }],
    logger,
    metrics: registry,
  });
  let passed = 0;
  const clock = { ...systemClock, now: () => passed };
  const metrics = createSyncMetrics(registry);
  const options = { chain, pool, database: scratch.database, datasets: [], logger, metrics, clock, settings };
  const progress = beginProgress(clock.now());
  // Each session is far shorter than a stall.
  for (let session = 0; session < 20; session++) {
    passed += 10_000;
    const end = new AbortController();
    const { stopped } = startStatusReports(options, progress, end.signal);
    end.abort();
    await stopped;
  }
  await vi.waitFor(async () => expect((await metrics.stalled.get()).values).toMatchObject([{ value: 1 }]));
  expect(await stallOf(chain.id)).toMatch(/^No progress for \d+ s: /);
  await pool.close();
});

test('the state of sources of history is stored with the status', async () => {
  const chainId = await chainOfAge(7_006, 0);
  const chain = { ...createChainRegistry().get('eth'), id: chainId, key: 'with-sources' };
  const { database } = scratch;
  const logger = silentLogger();
  const registry = createMetricsRegistry();
  const pool = createUpstreamPool({
    ...{ chain, logger, metrics: registry },
    upstreams: [{ url: 'http://127.0.0.1:9' }],
  });
  const idle = { blocks: 0, failures: 0, reason: null, until: null };
  const failing = { blocks: 5, failures: 1, reason: 'lacks r of block 6', until: 1_700_000_000_000 };
  const statuses = [{ name: 'portal', available: [{ from: 1, to: 9 }], uses: { blocks: failing, logs: idle } }];
  const sources: HistorySources = {
    ...createHistorySources({ chain, sources: [], clock: systemClock, logger }),
    statuses: () => statuses,
  };
  const metrics = createSyncMetrics(registry);
  const options = { chain, pool, sources, database, datasets: [], logger, metrics, clock: systemClock, settings };
  const end = new AbortController();
  const { stopped } = startStatusReports(options, beginProgress(systemClock.now()), end.signal);
  end.abort();
  await stopped;
  const stored = await readChainStatuses(database, [], [chain]);
  expect(stored.find((one) => one.chainId === chainId)?.sources).toEqual(statuses);
  await pool.close();
});

test.each([
  [true, null],
  [false, /^No progress for \d+ s: no upstream has announced a block above 12$/],
] as const)('a chain without new blocks stands still unless it may (%s)', async (mayIdle, stall) => {
  const chainId = await chainOfAge(mayIdle ? 7_004 : 7_005, 0);
  const chain = { ...createChainRegistry().get('eth'), id: chainId, key: `idle-${mayIdle}` };
  await saveStall(scratch.database, chainId, 'No progress for 60 s: the node was away');
  const metrics = createSyncMetrics(createMetricsRegistry());
  const logger = silentLogger();
  let passed = 0;
  const clock = { ...systemClock, now: () => passed };
  const settings = {
    startBlock: null,
    mayIdle,
    endBlock: null,
    proof: 'strict',
    backfillProof: 'none',
    backfillOrder: 'newest-first',
    verifyBlocksPerSecond: 0,
  } as const;
  const healthy = createUpstreamPool({
    chain,
    upstreams: [{ url: 'http://127.0.0.1:9' }],
    logger,
    metrics: createMetricsRegistry(),
  });
  const pool = { ...healthy, status: () => healthy.status().map((one) => ({ ...one, headAt: passed })) };
  const options = { chain, pool, database: scratch.database, datasets: [], logger, metrics, clock, settings };
  const progress = beginProgress(clock.now());
  const block = { number: 12, hash: parseHash(`0x${'12'.repeat(32)}`) };
  progress.checkpoint = block;
  progress.head = { ...block, parentHash: block.hash, timestamp: 0 };
  passed = 3_600_000;
  const end = new AbortController();
  const { stopped } = startStatusReports(options, progress, end.signal);
  end.abort();
  await stopped;
  if (stall === null) expect(await stallOf(chainId)).toBeNull();
  else expect(await stallOf(chainId)).toMatch(stall);
  expect((await metrics.stalled.get()).values).toMatchObject([{ value: mayIdle ? 0 : 1 }]);
  await healthy.close();
});
