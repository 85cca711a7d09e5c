/** All routes, lists of GraphQL and tools of agents over subjects with a million rows each, eight requests at once. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startScratchServer } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { DEMO_CHAIN_ID, DEMO_CHAIN_NAME } from '../../apps/chainstead/src/demo/demo-chain.ts';
import {
  type ApiRequest,
  type DemoApi,
  requestsOfAgents,
  requestsOfAllLists,
  requestsOfAllRoutes,
  sendAtOnce,
  startDemoApi,
  untilSynced,
} from './demo-api.ts';
import { rowsOfAptos, rowsOfChain, storeRows } from './million-rows.ts';

const AT_ONCE = 8;
/** Blocks that the rows are spread over. */
const BLOCKS = 500;
const BLOCKS_PER_CALL = 50;
/** Responses above this are named in the output. Milliseconds. */
const SLOW_MS = 500;
const NO_ADDRESS = `0x${'cd'.repeat(20)}`;

const BUSY = join(mkdtempSync(join(tmpdir(), 'chainstead-busy-')), 'lines');
const PROBE = new URL('busy-probe.js', import.meta.url);

const api: DemoApi = stageOfFile(async () => {
  // A database of several gigabytes is on disk, not in memory.
  const server = await startScratchServer();
  const demo = await startDemoApi(() => server.createDatabase(), {
    NODE_OPTIONS: `--import=${PROBE.href}`,
    BUSY_PROBE: BUSY,
  });
  return {
    ...demo,
    async close() {
      await demo.close();
      await server.stop();
    },
  };
});

beforeAll(async () => {
  for (let mined = 0; mined < BLOCKS; mined += BLOCKS_PER_CALL)
    await api.chain.devnet.client.mine({ blocks: BLOCKS_PER_CALL, interval: 60 });
  await untilSynced(api);
});
for (const part of ['transfers', 'transactions', 'markets'] as const)
  beforeAll(async () => {
    const { chain, scratch, subjects } = api;
    const last = Number(await chain.devnet.client.getBlockNumber());
    const rows = rowsOfChain({
      ...{ chainId: DEMO_CHAIN_ID, blocks: { first: last - BLOCKS + 1, last: last - BLOCKS_PER_CALL } },
      ...{
        wallet: subjects.wallets[0] ?? '',
        token: subjects.tokens[0] ?? '',
        collection: chain.market.cats.address,
      },
      pool: chain.exchanges.pools[0]?.pool ?? '',
    });
    await storeRows(scratch.database, rows[part]);
  });
beforeAll(() => storeRows(api.scratch.database, rowsOfAptos(api.subjects.coinOwners[0] ?? '')));

/** Sends each request eight times at once. Lists that are still being counted are refused with a stated code. */
async function expectServed(requests: readonly ApiRequest[]): Promise<void> {
  for (const request of requests) {
    const begun = performance.now();
    const { statuses, unexpected, healthMs } = await sendAtOnce(api, request, AT_ONCE);
    expect.soft([request.path, request.body, unexpected]).toEqual([request.path, request.body, []]);
    const took = performance.now() - begun;
    if (Math.max(healthMs, took) > SLOW_MS)
      process.stdout.write(
        `${took.toFixed(0)} ms, health ${healthMs.toFixed(0)} ms, ${[...new Set(statuses)]} ${request.path} ${JSON.stringify(request.body ?? '').slice(0, 120)}\n`,
      );
  }
  expect(api.program.output()).not.toMatch(/ended unexpectedly|heap out of memory/);
  // Whatever else this machine does: no process is too busy to respond to `/health`.
  expect(existsSync(BUSY) ? readFileSync(BUSY, 'utf8') : '').toBe('');
}

/** Returns the same requests with the cursors of their first pages. */
async function secondPages(requests: readonly ApiRequest[]): Promise<readonly ApiRequest[]> {
  const pages: ApiRequest[] = [];
  for (const request of requests.filter(({ path }) => path.includes('limit='))) {
    const { cursor } = Object(await (await api.send(request)).json());
    if (typeof cursor !== 'string') continue;
    const url = new URL(request.path, 'http://localhost');
    url.searchParams.set('cursor', cursor);
    pages.push({ ...request, path: url.pathname + url.search });
  }
  return pages;
}

/** Routes of pools: the document calls their address as that of a wallet. */
function requestsOfPools(): readonly ApiRequest[] {
  const pool = api.chain.exchanges.pools[0]?.pool ?? '';
  const dates = 'fromDate=2020-01-01&toDate=2100-01-01';
  return [
    ...[`swaps?`, `swaps?order=ASC&`, `ohlcv?${dates}&timeframe=1h&`, `ohlcv?${dates}&timeframe=1d&`, 'stats?'],
  ].map((path) => ({ method: 'GET', path: `/api/v2.2/pairs/${pool}/${path}chain=${DEMO_CHAIN_NAME}&limit=100` }));
}

test('every route is served or refused at its largest limit, and no process ends', async () => {
  await expectServed([...(await requestsOfAllRoutes(api)), ...requestsOfPools()]);
});

test('the routes are served again once what they count is stored', async () => {
  await expectServed([...(await requestsOfAllRoutes(api)), ...requestsOfPools()]);
});

test('the pages after the first ones are served', async () => {
  const pages = await secondPages([...(await requestsOfAllRoutes(api)), ...requestsOfPools()]);
  expect(pages.length).toBeGreaterThan(20);
  await expectServed(pages);
});

test.each<Readonly<Record<string, string>>>([
  { order: 'ASC' },
  { to_date: '2001-01-01' },
  { from_date: '2001-01-01' },
  { contract_addresses: NO_ADDRESS },
  { token_addresses: NO_ADDRESS },
  { topic0: `0x${'cd'.repeat(32)}` },
])('every list is served or refused with %o', async (also) => {
  await expectServed(await requestsOfAllRoutes(api, also));
});

test('every list of GraphQL and every tool of agents is served or refused', async () => {
  await expectServed([...(await requestsOfAllLists(api)), ...requestsOfAgents(api)]);
});
