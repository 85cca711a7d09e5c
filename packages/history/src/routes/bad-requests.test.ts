/** Histories asked for wrongly: status and whole body of every answer. */
import { createWalletHistory } from '@chainstead/answers';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createJobs, type Jobs } from '@chainstead/jobs';
import { createStateQuestions } from '@chainstead/state';
import { createKeptSubjects } from '@chainstead/sync';
import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHistoryRoutes } from './create-history-routes.ts';

let scratch: ScratchDatabase;
let jobs: Jobs;
let api: ApiApp;
beforeAll(async () => {
  scratch = await createScratchDatabase();
  const { database } = scratch;
  const logger = silentLogger();
  jobs = await createJobs({ databaseUrl: scratch.url, logger, metrics: createMetricsRegistry() });
  const questions = createStateQuestions({ database, jobs, chains: [], clock: systemClock, logger });
  const walletHistory = createWalletHistory({ jobs, chains: [], datasets: [], maxCalls: 0, perKey: 1 });
  const bounds = { waitMs: 0, maxCalls: 0, perKey: 1, clock: systemClock };
  const kept = createKeptSubjects(database);
  api = await exampleApi(database, createHistoryRoutes({ ...bounds, chains: [], questions, walletHistory, kept }));
});
afterAll(async () => {
  await jobs.close();
  await scratch.drop();
});

const WALLET = `0x${'a1'.repeat(20)}`;
const ADDRESS = 'a hexadecimal address (0x and 40 digits)';
const CHAIN = 'a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';
const BLOCK = 'a block number (a whole number from 0 to 9007199254740991)';
const DATE =
  'a date (2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131, Jan 31, 2024, RFC 2822, Unix seconds or milliseconds)';

interface Refusal {
  readonly message: string;
  readonly details?: object;
}

function mustBe(parameter: string, given: string, allowed: string): Refusal {
  return {
    message: `${parameter} must be ${allowed}, ${JSON.stringify(given)} was given`,
    details: { errors: [{ parameter, given, allowed }] },
  };
}

function onlyOnce(parameter: string, given: readonly string[]): Refusal {
  return {
    message: `${parameter} may be given once, it was given ${given.length} times`,
    details: { errors: [{ parameter, given }] },
  };
}

const FLAGS = ['include_internal_transactions', 'nft_metadata', 'include_input_data'];
const REFUSALS: readonly (readonly [query: string, refusal: Refusal])[] = [
  ...['nowhere', '', '0xg'].map((given) => [`chain=${given}`, mustBe('chain', given, CHAIN)] as const),
  ...FLAGS.flatMap((flag) => [
    [`${flag}=yes`, mustBe(flag, 'yes', 'true or false')] as const,
    [`${flag}=`, mustBe(flag, '', 'true or false')] as const,
    [`${flag}=true&${flag}=false`, onlyOnce(flag, ['true', 'false'])] as const,
  ]),
  ...['internal_transactions', 'log', 'logs,labels'].map(
    (given) => [`include=${given}`, mustBe('include', given, 'logs')] as const,
  ),
  ...['from_block', 'to_block'].flatMap((bound) =>
    ['-1', '1.5', 'latest', '99999999999999999'].map(
      (given) => [`${bound}=${given}`, mustBe(bound, given, BLOCK)] as const,
    ),
  ),
  ...['from_date', 'to_date'].flatMap((bound) =>
    ['never', '2024-13-01'].map((given) => [`${bound}=${given}`, mustBe(bound, given, DATE)] as const),
  ),
  ['order=newest', mustBe('order', 'newest', 'ASC or DESC')],
  ['limit=0', mustBe('limit', '0', 'a whole number from 1 (above 100 means 100)')],
  ['limit=ten', mustBe('limit', 'ten', 'a whole number from 1 (above 100 means 100)')],
  ['cursor=eyJ', mustBe('cursor', 'eyJ', 'the cursor of an earlier page of this query, unchanged')],
];

async function ask(path: string): Promise<{ status: number; body: unknown }> {
  const answer = await api.request(`/api/v2.2/wallets/${path}`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
  return { status: answer.status, body: await answer.json() };
}

describe('what a request can’t mean', () => {
  test.each(REFUSALS)('history?%s is refused', async (query, refusal) => {
    expect(await ask(`${WALLET}/history?${query}`)).toEqual({ status: 400, body: refusal });
  });

  test.each(['0x12', `${WALLET}0`, `0x${'g'.repeat(40)}`])('the wallet %s is refused', async (given) => {
    expect(await ask(`${given}/history`)).toEqual({
      status: 400,
      body: {
        message: '[C0005] Invalid address provided',
        details: { errors: [{ parameter: 'address', given, allowed: ADDRESS }] },
      },
    });
  });
});

test('a wallet of which nothing is known has an empty page, which says so', async () => {
  expect(await ask(`${WALLET.toUpperCase().replace('X', 'x')}/history?limit=7`)).toEqual({
    status: 200,
    body: {
      ...{ page: 1, page_size: 7, limit: 7, cursor: null, synced_at: null, result: [] },
      indexed: { from_block: null, to_block: null, complete: false, traces: 'none' },
    },
  });
});
