/** Counts of rows that are dropped with their partition, when blocks leave the retention window. */
import { createChainRegistry } from '@chainstead/chains';
import { type Address, createMetricsRegistry, silentLogger, systemClock, waitingAtMost } from '@chainstead/core';
import { addressBytes, hexText, sql } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20/requests';
import { createUpstreamPool } from '@chainstead/rpc/pool';
import { subjectProjectionsOf } from '@chainstead/sync';
import type { Dataset } from '@chainstead/sync/datasets';
import {
  createChainSync,
  createSubjectProjections,
  createSyncMetrics,
  ensurePartitions,
} from '@chainstead/sync/ingest';
import { createScriptedChain, serveScriptedChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createWalletCounter } from './wallet-counter.ts';

const CHAIN_ID = 930_777;
const REORG_DEPTH_MAX = 8;
const KEPT_BLOCKS = 100;
const PARTITION_BLOCKS = 20;
const BLOCKS = 300;
const dataset = erc20Transfers as Dataset;
const chain = createChainRegistry({
  additional: [
    {
      key: 'dropping',
      id: CHAIN_ID,
      pollIntervalMs: 20,
      headerHash: true,
      reorgDepthMax: REORG_DEPTH_MAX,
      proofPolicy: 'strict',
    },
  ],
}).get(CHAIN_ID);

const scratch = scratchOfFile();

test('counts of wallets and of tokens are those of the rows that are left', async () => {
  const { database } = scratch;
  const scripted = createScriptedChain({ seed: 5, chainId: CHAIN_ID, wallets: 12, finalityDepth: null });
  scripted.mine(BLOCKS);
  const density = { rows: 1_000, blocks: 1 };
  const table = { name: dataset.table.name, rowsPerPartition: PARTITION_BLOCKS * density.rows };
  for (let from = 0; from <= BLOCKS + PARTITION_BLOCKS; from += PARTITION_BLOCKS)
    await ensurePartitions(database, chain.id, [{ from, to: from + PARTITION_BLOCKS - 1 }], [{ table, density }]);
  const node = await serveScriptedChain(scripted);
  onTestFinished(() => node.close());
  const follow = async (blocks: number | null) => {
    const [metrics, logger, abort] = [createMetricsRegistry(), silentLogger(), new AbortController()];
    const pool = createUpstreamPool({ chain, upstreams: [{ url: node.url }], logger, metrics });
    await pool.start();
    const run = createChainSync({
      ...{
        chain,
        pool,
        database,
        logger,
        clock: systemClock,
        datasets: [dataset],
        metrics: createSyncMetrics(metrics),
      },
      settings: {
        ...{
          startBlock: 1,
          endBlock: null,
          proof: 'strict',
          backfillProof: 'none',
          backfillOrder: 'newest-first',
        },
        ...{ verifyBlocksPerSecond: 0, retention: { blocks, since: null } },
      },
    }).run(abort.signal);
    const stop = async (): Promise<void> => {
      abort.abort();
      await run;
      await pool.close();
    };
    onTestFinished(stop);
    return stop;
  };
  const stop = await follow(null);
  const covered = async () =>
    (
      await database.query<{ from: number; to: number }>(
        sql`SELECT first_block AS from, last_block AS to FROM sync_ranges WHERE chain_id = ${chain.id} ORDER BY 1`,
      )
    ).reduce((sum, { from, to }) => sum + to - from + 1, 0);
  await vi.waitFor(async () => expect(await covered()).toBe(BLOCKS), { timeout: 30_000, interval: 50 });

  const projections = createSubjectProjections(database);
  const counter = createWalletCounter({
    ...{ database, projections, clock: systemClock, rowsPerRequest: 20, rowsPerRange: 10 },
  });
  const [token] = await database.query<{ token: Address }>(
    sql`SELECT ${hexText('token')} AS token FROM erc20_transfer_sides GROUP BY token ORDER BY count(*) DESC LIMIT 1`,
  );
  const [busiest] = await database.query<{ wallet: Address }>(
    sql`SELECT ${hexText('account')} AS wallet FROM erc20_transfer_sides GROUP BY account ORDER BY count(*) DESC LIMIT 1`,
  );
  const of = subjectProjectionsOf([dataset]).find(({ state }) => state.name === 'erc20-token-counts');
  if (token === undefined || busiest === undefined || of === undefined)
    throw new Error('Nothing was transferred');
  /** The stored counts, and those of the rows. */
  const counted = async () => {
    expect(await waitingAtMost(90_000, () => projections.keep(chain, of, token.token))).toBe('built');
    const [row] = await database.query<{ ofToken: number; rowsOfToken: number; rowsOfWallet: number }>(
      sql`SELECT (SELECT transfers FROM erc20_token_counts WHERE token = ${addressBytes(token.token)} AND chain_id = ${chain.id}) AS "ofToken",
         (SELECT count(*) FROM erc20_transfer_sides WHERE chain_id = ${chain.id} AND token = ${addressBytes(token.token)} AND direction <> 1) AS "rowsOfToken",
         (SELECT count(*) FROM erc20_transfer_sides WHERE chain_id = ${chain.id} AND account = ${addressBytes(busiest.wallet)}) AS "rowsOfWallet"`,
    );
    return {
      ...row,
      ofWallet: (await waitingAtMost(90_000, () => counter.count(chain, busiest.wallet))).tokenTransfers,
    };
  };
  const spans = () =>
    database.query<{ to: number }>(
      sql`SELECT last_block AS to FROM wallet_counts WHERE chain_id = ${chain.id} ORDER BY 1`,
    );
  const before = await counted();
  expect(before).toMatchObject({ ofToken: before.rowsOfToken, ofWallet: before.rowsOfWallet });
  expect((await spans()).length).toBeGreaterThan(3);
  await stop();

  await follow(KEPT_BLOCKS);
  const lowest = BLOCKS + 1 - KEPT_BLOCKS - REORG_DEPTH_MAX - PARTITION_BLOCKS;
  await vi.waitFor(
    async () => {
      const rows = await database.query(
        sql`SELECT FROM erc20_transfer_sides WHERE chain_id = ${chain.id} AND block_number < ${lowest} LIMIT 1`,
      );
      expect(rows).toEqual([]);
    },
    { timeout: 30_000, interval: 50 },
  );
  // Counts may be requested at any moment between the steps of a drop; a moment after it they are correct.
  await vi.waitFor(
    async () => {
      const after = await counted();
      expect(after).toMatchObject({ ofToken: after.rowsOfToken, ofWallet: after.rowsOfWallet });
      expect(after.rowsOfWallet).toBeLessThan(before.rowsOfWallet ?? 0);
      expect(after.rowsOfToken).toBeLessThan(before.rowsOfToken ?? 0);
    },
    { timeout: 30_000, interval: 50 },
  );
  expect((await spans()).every(({ to }) => to >= lowest)).toBe(true);
});
