/** Every route of the data API refuses data that is off in one way, whatever it would respond with all of it on. */
import { type ChainRegistry, createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createDatasetRoutes, datasets } from './datasets/index.ts';
import { createApiUnderTest, TEST_KEY } from './testing/api-under-test.ts';

const operationShape = z.object({
  parameters: z
    .array(z.object({ name: z.string(), in: z.string(), required: z.boolean().optional() }))
    .default([]),
});
const documentShape = z.object({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });

const ADDRESS = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const EVENT = { anonymous: false, name: 'Ping', type: 'event', inputs: [] };
/** Values of parameters that requests can't leave out. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ address: ADDRESS, token_address: ADDRESS, owner_address: ADDRESS, spender_address: ADDRESS },
  ...{ token_id: '1', transaction_hash: `0x${'ab'.repeat(32)}`, block_number_or_hash: '1', date: '2024-01-31' },
  ...{ 'addresses[]': ADDRESS, 'wallet_addresses[]': ADDRESS, 'symbols[]': 'ABC', traits: 'mood', chain: 'eth' },
  ...{
    tokenAddress: ADDRESS,
    query: 'ABC',
    pair_address: ADDRESS,
    token0_address: ADDRESS,
    token1_address: ADDRESS,
  },
};
/** Parameters that a route needs and doesn't require in every request. */
const QUERIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/api/v2.2/pairs/{address}/ohlcv': { fromDate: '2024-01-01', toDate: '2024-01-02' },
  '/api/v2.2/{token0_address}/{token1_address}/pairAddress': { exchange: 'uniswapv2' },
};
const BODIES: Readonly<Record<string, unknown>> = {
  events: EVENT,
  getMultipleNFTs: { tokens: [{ token_address: ADDRESS, token_id: '1' }] },
  analytics: { tokens: [{ tokenAddress: ADDRESS }] },
  timeseries: { tokens: [{ tokenAddress: ADDRESS }] },
  'nfts-by-traits': { traits: { mood: 'good' } },
};

const scratch = scratchOfFile();
const chains = createChainRegistry({ additional: [{ key: 'eth', id: 1, swaps: 'all' }] });
const ALL = datasets.map(({ name }) => name);

/** What each route of the data API responds, by `METHOD /path`. */
async function respond(
  indexed: readonly string[],
  known: ChainRegistry = chains,
): Promise<ReadonlyMap<string, Reply>> {
  const eth = known.get('eth');
  const options = { database: scratch.database, logger: silentLogger(), clock: systemClock };
  const onDemand = { waitMs: 0, maxCalls: 0, perKey: 1_000 };
  const routes = createDatasetRoutes({ ...options, chains: [eth], onDemand });
  const api = await createApiUnderTest(scratch.database, known, routes, { chains: [eth], datasets: indexed });
  const { paths } = documentShape.parse(await (await api.request('/openapi.json')).json());
  const replies = new Map<string, Reply>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { parameters }] of Object.entries(methods)) {
      if (!path.startsWith('/api/')) continue;
      const required = parameters.filter(({ in: place, required }) => place === 'query' && required === true);
      const query = new URLSearchParams({
        ...Object.fromEntries(required.map(({ name }) => [name, VALUES[name] ?? ''])),
        ...QUERIES[path],
      });
      const target = path.replaceAll(/\{(\w+)\}/g, (all, name: string) => VALUES[name] ?? all);
      const response = await api.request(`${target}?${query}`, {
        method: method.toUpperCase(),
        headers: { 'x-api-key': TEST_KEY, 'content-type': 'application/json' },
        ...(method !== 'get' && { body: JSON.stringify(BODIES[path.split('/').at(-1) ?? ''] ?? {}) }),
      });
      replies.set(`${method.toUpperCase()} ${path}`, { status: response.status, body: await response.json() });
    }
  return replies;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

test('a route whose dataset is off refuses with 400, the dataset and the setting; others respond as before', async () => {
  const on = await respond(ALL);
  const off = await respond([]);
  const changed = [...off].filter(([route, { status }]) => status !== on.get(route)?.status);
  expect(changed.length).toBeGreaterThan(25);
  for (const [route, reply] of changed)
    expect([route, reply]).toMatchObject([
      route,
      {
        status: 400,
        body: {
          message: expect.stringMatching(/^Dataset [a-z0-9-]+ is not indexed here: add it to DATASETS \(/),
          details: { reason: 'not-indexed', configuration_key: 'DATASETS' },
        },
      },
    ]);
});

test('a route about swaps refuses with 400 and the setting of the chain while its swaps are off', async () => {
  const off = createChainRegistry({ additional: [{ key: 'eth', id: 1, swaps: 'off' }] });
  const [on, without] = [await respond(ALL), await respond(ALL, off)];
  const changed = [...without].filter(([route, { status }]) => status !== on.get(route)?.status);
  for (const [route, reply] of changed)
    expect([route, reply]).toMatchObject([
      route,
      {
        status: 400,
        body: {
          message: 'Dataset swaps of chain eth is not indexed here: set SWAPS_ETH=all and restart',
          details: { reason: 'not-indexed', configuration_key: 'SWAPS_ETH' },
        },
      },
    ]);
  expect(changed.map(([route]) => route.replace('/api/v2.2/', '')).toSorted()).toEqual([
    'GET erc20/{address}/price',
    'GET erc20/{address}/swaps',
    'GET erc20/{address}/top-gainers',
    'GET erc20/{token_address}/pairs',
    'GET erc20/{token_address}/pairs/stats',
    'GET pairs/{address}/ohlcv',
    'GET pairs/{address}/stats',
    'GET pairs/{address}/swaps',
    'GET tokens/search',
    'GET tokens/{tokenAddress}/analytics',
    'GET wallets/{address}/profitability',
    'GET wallets/{address}/profitability/summary',
    'GET wallets/{address}/swaps',
    'GET {pair_address}/reserves',
    'GET {token0_address}/{token1_address}/pairAddress',
    'POST tokens/analytics',
    'POST tokens/analytics/timeseries',
  ]);
});
