import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createDueWork } from '@chainstead/jobs/worker';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import { type Closable, closeOf, type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { contractLogsRoutes } from '../contract-logs-route.ts';
import { logs } from '../dataset.ts';

/** The contract log routes behind a real socket, over a devnet with a backfill worker. */
export interface LogsStage extends Closable {
  readonly stage: StateStage;
  readonly server: ApiServer;
  readonly sdk: Moralis;
  /** Indexes the devnet's blocks up to its newest. */
  commit(): Promise<void>;
  ask(path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
}

/** @param maxCalls maximum node calls of one backfill; 0: none runs */
export async function openLogsStage(maxCalls = 1_000): Promise<LogsStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.adopt(
    await openStateStage({
      chain: { reorgDepthMax: 1, finalizedTag: false, pollIntervalMs: 50, blockTimeMs: 100 },
    }),
    (one) => one.close(),
  );
  const { database } = stage.scratch;
  const onDemandBackfill = createOnDemandBackfill({
    ...{ chains: [stage.chain], datasets: [logs], perKey: 100, maxCalls },
  });
  const logger = silentLogger();
  const reading = { chain: stage.chain, pool: stage.pool };
  const shared = { database, clock: systemClock, logger, metrics: createMetricsRegistry() };
  const dueWork = createDueWork({ ...shared, sweepEveryMs: 100 });
  onDemandBackfill.work(dueWork, { ...shared, chains: [reading] });
  parts.defer(() => dueWork.close());
  dueWork.start();
  const api = await exampleApi(database, contractLogsRoutes({ onDemandBackfill }));
  const server = parts.adopt(await serveApi(api, { host: '127.0.0.1', port: 0 }), (one) => one.close());
  const { Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url });
  return {
    ...{ stage, server, sdk },
    async commit() {
      await stage.commit();
      // As the follower stores it: backfills end below the blocks that it may roll back.
      await database.query(
        sql`UPDATE sync_chains SET checkpoint_hash = block_hash FROM blocks
         WHERE blocks.chain_id = sync_chains.chain_id AND block_number = checkpoint`,
      );
    },
    async ask(path, body) {
      const answer = await fetch(`${server.url}/api/v2.2/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'x-api-key': EXAMPLE_KEY, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.json() };
    },
    ...closeOf(parts),
  };
}
