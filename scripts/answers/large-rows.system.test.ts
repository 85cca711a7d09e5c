/** All routes and the tools of agents over rows of a megabyte, at their largest limit, eight at once: no process ends, and the API stays responsive. */
import { createChainRegistry } from '@chainstead/chains';
import { createScratchDatabase, type Program, type ScratchDatabase, startProgram } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  DEMO_CHAIN_ID,
  DEMO_CHAIN_NAME,
  type DemoChain,
  startDemoChain,
} from '../../apps/chainstead/src/demo/demo-chain.ts';
import { startDemoCoins } from '../../apps/chainstead/src/demo/demo-coins.ts';
import { addDemoContract } from '../../apps/chainstead/src/demo/demo-contract.ts';
import { demoEnvironment } from '../../apps/chainstead/src/demo/demo-program.ts';
import { type ApiDocument, CHAIN, readingRequests } from './requests.ts';
import type { Subjects } from './subjects.ts';

const KEY = 'large-rows-0123456789';
const HEADERS = { 'x-api-key': KEY, accept: 'application/json, text/event-stream' };
const AT_ONCE = 8;
const LIMIT_MAX = 100;
/** Requests for `/health` while others run. Milliseconds. */
const HEALTH_EVERY_MS = 50;
/** Far above the 500 ms of a free machine. Milliseconds. */
const HEALTH_MAX_MS = 5_000;
const PATIENCE = { timeout: 60_000, interval: 300 };

const stage = new AsyncDisposableStack();
let scratch: ScratchDatabase;
let program: Program;
let address: string;
let subjects: Subjects;

beforeAll(async () => {
  scratch = stage.adopt(await createScratchDatabase(), (one) => one.drop());
  const chain = stage.adopt(await startDemoChain(), (one) => one.stop());
  const coins = await startDemoCoins();
  stage.defer(() => coins.fullnode.close());
  await chain.makeTraffic(4);
  subjects = await subjectsOf(chain);
  const registry = createChainRegistry({ additional: [{ key: DEMO_CHAIN_NAME, id: DEMO_CHAIN_ID }] });
  await addDemoContract(scratch.database, registry.get(DEMO_CHAIN_ID), chain.market);
  const given = Object.entries(demoEnvironment({ chain, coins }, '', {}, 0)).filter(([, value]) => value !== undefined);
  const settings = { DATABASE_URL: scratch.url, API_KEYS: KEY, DATA_DIR: '', GRAPHQL: 'true' };
  program = stage.use(startProgram(['start'], { environment: { ...Object.fromEntries(given), ...settings } }));
  address = await program.url;
  await vi.waitFor(async () => expect((await fetch(`${address}/synced`)).status).toBe(200), PATIENCE);
  await widenRows();
});
afterAll(() => stage.disposeAsync());

async function subjectsOf({ devnet, wallets, tokens, exchanges, market, script }: DemoChain): Promise<Subjects> {
  const [sale] = await script.sell('listing');
  if (sale === undefined) throw new RangeError('A listing that is bought is one sale');
  const last = Number(await devnet.client.getBlockNumber());
  const block = await devnet.client.getBlock();
  return {
    ...{ first: 1, last, blockHash: block.hash, middle: Number(block.timestamp) * 1_000 },
    wallets: [wallets[0] ?? '', ...exchanges.traders],
    tokens: [...tokens],
    nfts: [
      { token_address: sale.token, token_id: String(sale.tokenIds[0]) },
      { token_address: market.cats.address, token_id: '1' },
    ],
    transactions: [sale.transactionHash],
    coinTypes: ['0x1::aptos_coin::AptosCoin'],
    coinOwners: [`0x${'1'.padStart(64, '0')}`],
  };
}

/** Stores a megabyte in each value without a limit that routes show, and the longest labels. */
async function widenRows(): Promise<void> {
  const bytes = `decode(repeat('01', 1000000), 'hex')`;
  // The longest label. Each of its characters takes six in JSON.
  const label = 'repeat(chr(1), 256)';
  for (const statement of [
    `UPDATE logs SET data = ${bytes} WHERE block_number IN (SELECT block_number FROM logs ORDER BY block_number DESC LIMIT 120)`,
    `UPDATE transactions SET input = ${bytes}`,
    `UPDATE nft_token_metadata SET metadata = json_build_object('name', repeat('x', 1000000))::text`,
    `INSERT INTO address_labels (address, chain_id, source, label)
     SELECT DISTINCT account, chain_id, 'test', ${label} FROM account_transactions ON CONFLICT DO NOTHING`,
    // A megabyte of JSON: each character takes six.
    `UPDATE contracts.market_order_fulfilled SET offer = jsonb_build_array(repeat(chr(1), 170000))`,
  ])
    await scratch.database.query(statement);
}

/** Optional parameters without which a response has few rows or none. */
const SELECTING = new Set(['chain', 'chains', 'fromDate', 'toDate']);

interface Requested {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** One request for each route that may be repeated, with the largest limit. */
async function requestsOfAllRoutes(): Promise<readonly Requested[]> {
  const { paths } = (await (await fetch(`${address}/openapi.json`)).json()) as ApiDocument;
  const requests = Object.entries(paths).flatMap(([route, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const parameters = operation.parameters?.filter(
        (one) => one.in === 'path' || one.required === true || SELECTING.has(one.name),
      );
      const narrowed = { [route]: { [method]: { ...operation, ...(parameters !== undefined && { parameters }) } } };
      const [request] = readingRequests({ paths: narrowed }, subjects);
      if (request === undefined) return [];
      const path = request.path.replaceAll(`=${CHAIN}`, `=${DEMO_CHAIN_NAME}`);
      const hasLimit = operation.parameters?.some(({ name }) => name === 'limit') === true;
      const limited = hasLimit ? `${path}${path.includes('?') ? '&' : '?'}limit=${LIMIT_MAX}` : path;
      return [{ ...request, path: limited }];
    }),
  );
  // A route of contracts and that of one of them send the same request.
  return [...new Map(requests.map((request) => [`${request.method} ${request.path}`, request])).values()];
}

/** Sends requests at once. @returns their statuses, and the longest wait for `/health` meanwhile */
async function sendAll(send: readonly (() => Promise<number>)[]): Promise<{ statuses: number[]; healthMs: number }> {
  let isOver = false;
  let healthMs = 0;
  const watching = (async () => {
    while (!isOver) {
      const begun = performance.now();
      expect((await fetch(`${address}/health`)).status).toBe(200);
      healthMs = Math.max(healthMs, performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, HEALTH_EVERY_MS));
    }
  })();
  const statuses = await Promise.all(send.map((one) => one()));
  isOver = true;
  await watching;
  return { statuses, healthMs };
}

async function statusOf({ method, path, body }: Requested): Promise<number> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { ...HEADERS, ...(body !== undefined && { 'content-type': 'application/json' }) };
  const response = await fetch(address + path, { method, headers, ...sent });
  await response.arrayBuffer();
  return response.status;
}

/** What a server may say to a correct request: not a 500, and not a broken connection. */
const EXPECTED = new Set([200, 201, 202, 204, 302, 304, 400, 401, 403, 404, 405, 413, 429, 501, 503]);

test.each([1, 2])('every second route from number %i is served or refused, and no process ends', async (first) => {
  const all = await requestsOfAllRoutes();
  expect(all.length).toBeGreaterThan(80);
  const requests = all.filter((_, index) => index % 2 === first - 1);
  let healthMs = 0;
  for (const request of requests) {
    const sent = await sendAll(Array.from({ length: AT_ONCE }, () => () => statusOf(request)));
    const unexpected = sent.statuses.filter((status) => !EXPECTED.has(status));
    expect([request.path, unexpected]).toEqual([request.path, []]);
    healthMs = Math.max(healthMs, sent.healthMs);
  }
  expect(healthMs).toBeLessThan(HEALTH_MAX_MS);
  expect(program.output()).not.toMatch(/ended unexpectedly|heap out of memory/);
});

test('a list of wide rows is complete over its pages', async () => {
  const [contract = ''] = subjects.tokens;
  const stored = await scratch.database.query<{ rows: number }>(
    `SELECT count(*) AS rows FROM logs WHERE address = decode($1, 'hex')`,
    [contract.slice(2)],
  );
  const places: string[] = [];
  for (let cursor = ''; ; ) {
    const query = new URLSearchParams({ chain: DEMO_CHAIN_NAME, limit: String(LIMIT_MAX), ...(cursor && { cursor }) });
    const response = await fetch(`${address}/api/v2.2/${contract}/logs?${query}`, { headers: HEADERS });
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

/** The columns of a list of GraphQL, as a selection of its rows. */
interface RootField {
  readonly name: string;
  readonly columns: readonly string[];
}

async function graphqlOf(query: string): Promise<Response> {
  const headers = { ...HEADERS, accept: 'application/json', 'content-type': 'application/json' };
  return fetch(`${address}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) });
}

async function rootFields(): Promise<readonly RootField[]> {
  const response = await graphqlOf(
    '{ __schema { queryType { fields { name type { name ofType { name } } } } types { name fields { name } } } }',
  );
  const { data } = (await response.json()) as { readonly data: { readonly __schema: Introspection } };
  const columnsOf = new Map(
    data.__schema.types.map(({ name, fields }) => [name, fields?.map((one) => one.name) ?? []]),
  );
  return data.__schema.queryType.fields.flatMap(({ name, type }) => {
    const connection = type.name ?? type.ofType?.name ?? '';
    const columns = columnsOf.get(connection.replace(/Connection$/, '')) ?? [];
    return connection.endsWith('Connection') ? [{ name, columns }] : [];
  });
}

interface Introspection {
  readonly queryType: {
    readonly fields: readonly {
      readonly name: string;
      readonly type: { readonly name: string | null; readonly ofType: { readonly name: string } | null };
    }[];
  };
  readonly types: readonly { readonly name: string; readonly fields: readonly { readonly name: string }[] | null }[];
}

test('every list of GraphQL is served or refused at its largest limit, and no process ends', async () => {
  const fields = await rootFields();
  expect(fields.map(({ name }) => name)).toContain('contracts_market_order_fulfilled');
  let healthMs = 0;
  for (const { name, columns } of fields) {
    const query = `{ ${name}(chain_id: ${DEMO_CHAIN_ID}, first: ${LIMIT_MAX}) { nodes { ${columns.join(' ')} } } }`;
    const send = async (): Promise<number> => {
      const response = await graphqlOf(query);
      await response.arrayBuffer();
      return response.status;
    };
    const sent = await sendAll(Array.from({ length: AT_ONCE }, () => send));
    expect([name, sent.statuses.filter((status) => !EXPECTED.has(status))]).toEqual([name, []]);
    healthMs = Math.max(healthMs, sent.healthMs);
  }
  expect(healthMs).toBeLessThan(HEALTH_MAX_MS);
  expect(program.output()).not.toMatch(/ended unexpectedly|heap out of memory/);
});

test('the tools of agents return rows or an error, and no process ends', async () => {
  const page = { chain: DEMO_CHAIN_NAME, limit: LIMIT_MAX };
  const [[wallet], [token], [nft], [transaction]] = [
    subjects.wallets,
    subjects.tokens,
    subjects.nfts,
    subjects.transactions,
  ];
  const calls: readonly (readonly [name: string, given: Record<string, unknown>])[] = [
    ['contract_logs', { ...page, address: token }],
    ['own_contract_events', { ...page, name: 'market', event: 'order_fulfilled' }],
    ['transaction', { chain: DEMO_CHAIN_NAME, transaction_hash: transaction }],
    ['block', { chain: DEMO_CHAIN_NAME, block_number_or_hash: String(subjects.last) }],
    ['wallet_history', { ...page, address: wallet }],
    ['wallet_nfts', { ...page, address: wallet }],
    ['nft_metadata', { chain: DEMO_CHAIN_NAME, address: nft?.token_address, token_id: nft?.token_id }],
  ];
  for (const [name, given] of calls) {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const call = { method: 'POST', path: '/mcp', body };
    const { statuses } = await sendAll(Array.from({ length: AT_ONCE }, () => () => statusOf(call)));
    expect([name, new Set(statuses)]).toEqual([name, new Set([200])]);
  }
  expect(program.output()).not.toMatch(/ended unexpectedly|heap out of memory/);
});
