import { createWalletHistory } from '@chainstead/answers';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { createStateQuestions } from '@chainstead/state';
import { createKeptSubjects } from '@chainstead/sync';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHistoryRoutes } from './create-history-routes.ts';

const scratch = scratchOfFile();
let jobs: Jobs;
let api: ApiApp;
beforeAll(async () => {
  const { database } = scratch;
  const logger = silentLogger();
  jobs = await createJobs({ databaseUrl: scratch.url, logger, metrics: createMetricsRegistry() });
  const questions = createStateQuestions({ database, jobs, chains: [], clock: systemClock, logger });
  const walletHistory = createWalletHistory({ jobs, chains: [], datasets: [], maxCalls: 0, perKey: 1 });
  const bounds = { waitMs: 0, maxCalls: 0, perKey: 1, clock: systemClock };
  const kept = createKeptSubjects(database);
  api = await exampleApi(database, createHistoryRoutes({ ...bounds, chains: [], questions, walletHistory, kept }));
});
afterAll(() => jobs.close());

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
