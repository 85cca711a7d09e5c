/** All routes and the tools of agents over rows of a megabyte, at their largest limit, eight at once: no process ends, and the API stays responsive. */
import { hexBytes, sql } from '@chainstead/db';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, expect, test } from 'vitest';
import { DEMO_CHAIN_NAME } from '../../apps/chainstead/src/demo/demo-chain.ts';
import {
  type ApiRequest,
  type DemoApi,
  LIMIT_MAX,
  requestsOfAgents,
  requestsOfAllLists,
  requestsOfAllRoutes,
  sendAtOnce,
  startDemoApi,
} from './demo-api.ts';

const AT_ONCE = 8;
/** Far above the 500 ms of a free machine. Milliseconds. */
const HEALTH_MAX_MS = 5_000;

const api = stageOfFile(() => startDemoApi());

beforeAll(() => widenRows(api));

/** Stores a megabyte in each value without a limit that routes show, and the longest labels. */
async function widenRows({ scratch }: DemoApi): Promise<void> {
  const bytes = sql`decode(repeat('01', 1000000), 'hex')`;
  // The longest label. Each of its characters takes six in JSON.
  const label = sql`repeat(chr(1), 256)`;
  for (const statement of [
    sql`UPDATE logs SET data = ${bytes} WHERE block_number IN (SELECT block_number FROM logs ORDER BY block_number DESC LIMIT 120)`,
    sql`UPDATE transactions SET input = ${bytes}`,
    sql`UPDATE nft_token_metadata SET metadata = json_build_object('name', repeat('x', 1000000))::text`,
    sql`INSERT INTO address_labels (address, chain_id, source, label)
     SELECT DISTINCT account, chain_id, 'test', ${label} FROM account_transactions ON CONFLICT DO NOTHING`,
    // A megabyte of JSON: each character takes six.
    sql`UPDATE contracts.market_order_fulfilled SET offer = jsonb_build_array(repeat(chr(1), 170000))`,
  ])
    await scratch.database.query(statement);
}

/** Sends each request eight times at once. */
async function expectServed(requests: readonly ApiRequest[]): Promise<void> {
  let healthMs = 0;
  for (const request of requests) {
    const sent = await sendAtOnce(api, request, AT_ONCE);
    expect([request.path, request.body, sent.unexpected]).toEqual([request.path, request.body, []]);
    healthMs = Math.max(healthMs, sent.healthMs);
  }
  expect(healthMs).toBeLessThan(HEALTH_MAX_MS);
  expect(api.program.output()).not.toMatch(/ended unexpectedly|heap out of memory/);
}

test.each([1, 2])(
  'every second route from number %i is served or refused, and no process ends',
  async (first) => {
    const all = await requestsOfAllRoutes(api);
    expect(all.length).toBeGreaterThan(80);
    await expectServed(all.filter((_, index) => index % 2 === first - 1));
  },
);

test('a list of wide rows is complete over its pages', async () => {
  const [contract = ''] = api.subjects.tokens;
  const isOfContract = sql`address = ${hexBytes(contract)}`;
  const stored = await api.scratch.database.query<{ rows: number }>(
    sql`SELECT count(*) AS rows FROM logs WHERE ${isOfContract}`,
  );
  // A page can't have fewer rows than this one.
  await api.scratch.database.query(
    sql`UPDATE logs SET data = decode(repeat('01', 5000000), 'hex') WHERE ${isOfContract}
     AND (block_number, log_index) = (SELECT block_number, log_index FROM logs WHERE ${isOfContract} ORDER BY 1, 2 LIMIT 1)`,
  );
  const places: string[] = [];
  for (let cursor = ''; ; ) {
    const query = new URLSearchParams({
      chain: DEMO_CHAIN_NAME,
      limit: String(LIMIT_MAX),
      ...(cursor && { cursor }),
    });
    const response = await api.send({ method: 'GET', path: `/api/v2.2/${contract}/logs?${query}` });
    expect(response.status).toBe(200);
    const page = (await response.json()) as {
      readonly cursor: string | null;
      readonly result: readonly { readonly block_number: string; readonly log_index: number }[];
    };
    expect(page.result.length).toBeGreaterThan(0);
    places.push(...page.result.map((row) => `${row.block_number} ${row.log_index}`));
    if (page.cursor === null) break;
    cursor = page.cursor;
  }
  expect(new Set(places).size).toBe(places.length);
  expect(places.length).toBe(stored[0]?.rows);
});

test('every list of GraphQL is served or refused at its largest limit, and no process ends', async () => {
  const requests = await requestsOfAllLists(api);
  expect(requests.map(({ name }) => name)).toContain('contracts_market_order_fulfilled');
  await expectServed(requests);
});

test('the tools of agents return rows or an error, and no process ends', async () => {
  for (const request of requestsOfAgents(api)) {
    const { statuses } = await sendAtOnce(api, request, AT_ONCE);
    expect([request.name, new Set(statuses)]).toEqual([request.name, new Set([200])]);
  }
  expect(api.program.output()).not.toMatch(/ended unexpectedly|heap out of memory/);
});
