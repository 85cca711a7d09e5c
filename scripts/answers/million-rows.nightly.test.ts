/** All routes, lists of GraphQL and tools of agents over subjects with a million rows each, eight requests at once. */
import { startScratchServer } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { DEMO_CHAIN_ID } from '../../apps/chainstead/src/demo/demo-chain.ts';
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
import { ROWS, storeRows } from './million-rows.ts';

const AT_ONCE = 8;
/** Blocks that the rows are spread over. */
const BLOCKS = 500;
const BLOCKS_PER_CALL = 50;
const NO_ADDRESS = `0x${'cd'.repeat(20)}`;

const api: DemoApi = stageOfFile(async () => {
  // A database of several gigabytes is on disk, not in memory.
  const server = await startScratchServer();
  const demo = await startDemoApi(() => server.createDatabase());
  return {
    ...demo,
    async close() {
      await demo.close();
      await server.stop();
    },
  };
});

beforeAll(async () => {
  const { chain, scratch, subjects } = api;
  for (let mined = 0; mined < BLOCKS; mined += BLOCKS_PER_CALL)
    await chain.devnet.client.mine({ blocks: BLOCKS_PER_CALL, interval: 60 });
  await untilSynced(api);
  const last = Number(await chain.devnet.client.getBlockNumber());
  await storeRows(scratch.database, {
    ...{ chainId: DEMO_CHAIN_ID, blocks: { first: last - BLOCKS + 1, last: last - 10 } },
    ...{ wallet: subjects.wallets[0] ?? '', token: subjects.tokens[0] ?? '', collection: chain.market.cats.address },
  });
});

/** Rows that Postgres read from tables and indexes so far. */
async function rowsRead(): Promise<number> {
  const [{ rows } = { rows: 0 }] = await api.scratch.database.query<{ readonly rows: number }>(
    `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS rows FROM pg_stat_user_tables`,
  );
  return rows;
}

async function expectServed(requests: readonly ApiRequest[]): Promise<void> {
  for (const request of requests) {
    const before = await rowsRead();
    const begun = performance.now();
    const sent = await sendAtOnce(api, request, AT_ONCE);
    const ms = performance.now() - begun;
    if (process.env.MEASURE !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      console.log([Math.round(ms), Math.round(sent.healthMs), (await rowsRead()) - before, sent.statuses.join(), sent.bodies[0]?.length, sent.statuses.every((s) => s === 200) ? '' : sent.bodies[0]?.slice(0, 300), request.method, request.path, request.path === '/graphql' || request.path === '/mcp' ? JSON.stringify(request.body).slice(0, 120) : ''].join(' | '));
    }
    expect.soft([request.path, request.body, sent.unexpected]).toEqual([request.path, request.body, []]);
  }
  expect(api.program.output()).not.toMatch(/ended unexpectedly|heap out of memory/);
}

test('every route is served or refused at its largest limit, and no process ends', async () => {
  await expectServed(await requestsOfAllRoutes(api));
});
