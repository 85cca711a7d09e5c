/** Every route of the data API refuses a dataset that is off in one way, whatever it would respond with all datasets on. */
import { createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { createDatasetRoutes, datasets } from '@chainstead/datasets';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createApiUnderTest, TEST_KEY } from './acceptance/api-under-test.ts';

const operationShape = z.object({
  parameters: z.array(z.object({ name: z.string(), in: z.string(), required: z.boolean().optional() })).default([]),
});
const documentShape = z.object({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });

const ADDRESS = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const EVENT = { anonymous: false, name: 'Ping', type: 'event', inputs: [] };
/** Values of parameters that requests can't leave out. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ address: ADDRESS, token_address: ADDRESS, owner_address: ADDRESS, spender_address: ADDRESS },
  ...{ token_id: '1', transaction_hash: `0x${'ab'.repeat(32)}`, block_number_or_hash: '1', date: '2024-01-31' },
  ...{ 'addresses[]': ADDRESS, 'wallet_addresses[]': ADDRESS, 'symbols[]': 'ABC', traits: 'mood', chain: 'eth' },
  ...{ tokenAddress: ADDRESS, query: 'ABC' },
};
const BODIES: Readonly<Record<string, unknown>> = {
  events: EVENT,
  getMultipleNFTs: { tokens: [{ token_address: ADDRESS, token_id: '1' }] },
  analytics: { tokens: [{ tokenAddress: ADDRESS }] },
  timeseries: { tokens: [{ tokenAddress: ADDRESS }] },
  'nfts-by-traits': { traits: { mood: 'good' } },
};

const scratch = scratchOfFile();
const chains = createChainRegistry();
const eth = chains.get('eth');

/** What each route of the data API responds, by `METHOD /path`. */
async function respond(indexed: readonly string[]): Promise<ReadonlyMap<string, Reply>> {
  const options = { database: scratch.database, logger: silentLogger(), clock: systemClock };
  const onDemand = { waitMs: 0, maxCalls: 0, perKey: 1_000 };
  const routes = createDatasetRoutes({ ...options, chains: [eth], onDemand });
  const api = await createApiUnderTest(scratch.database, chains, routes, { chains: [eth], datasets: indexed });
  const { paths } = documentShape.parse(await (await api.request('/openapi.json')).json());
  const replies = new Map<string, Reply>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { parameters }] of Object.entries(methods)) {
      if (!path.startsWith('/api/')) continue;
      const required = parameters.filter(({ in: place, required }) => place === 'query' && required === true);
      const query = new URLSearchParams(required.map(({ name }) => [name, VALUES[name] ?? '']));
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
  const on = await respond(datasets.map(({ name }) => name));
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
