import { silentLogger, systemClock } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { createOnDemandBackfill } from '@chainstead/pages/on-demand';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { createHistoryRoutes } from './wallet-stats-route.ts';

const scratch = scratchOfFile();
let api: ApiApp;
beforeAll(async () => {
  const { database } = scratch;
  const logger = silentLogger();
  const nodeReads = createNodeReadQueue({ database, chains: [], clock: systemClock, logger });
  const onDemandBackfill = createOnDemandBackfill({ chains: [], datasets: [], maxCalls: 0, perKey: 1 });
  const bounds = { maxCalls: 0, perKey: 1, clock: systemClock };
  const projections = createSubjectProjections(database);
  api = await exampleApi(
    database,
    createHistoryRoutes({ ...bounds, chains: [], nodeReads, onDemandBackfill, projections }),
  );
});

const WALLET = `0x${'a1'.repeat(20)}`;

async function ask(path: string): Promise<{ status: number; body: unknown }> {
  const answer = await api.request(`/api/v2.2/wallets/${path}`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
  return { status: answer.status, body: await answer.json() };
}

test('a wallet of which nothing is known has an empty page, which says so', async () => {
  expect(await ask(`${WALLET.toUpperCase().replace('X', 'x')}/history?limit=7`)).toEqual({
    status: 200,
    body: {
      ...{ page: 1, page_size: 7, limit: 7, cursor: null, synced_at: null, result: [] },
      indexed: { from_block: null, to_block: null, complete: false, traces: 'none' },
    },
  });
});
