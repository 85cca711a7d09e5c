/** The route as the official client meets it, over routes whose responses are known. */
import { systemClock } from '@chainstead/core';
import { type KeyScope, withScope } from '@chainstead/http';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Agent, connectAgent, refusalIn } from '../testing/agent.ts';
import { DEMO_ROWS, demoRoutes } from '../testing/demo-routes.ts';
import { mcpRoute } from './mcp-route.ts';

const RPC_KEY = 'key-without-data';
const CHAINS = [
  { chain: 'eth', head: 9 },
  { chain: 'base', head: 3 },
];

const scratch = scratchOfFile();
let server: ApiServer;
let agent: Agent;

beforeAll(async () => {
  const route = mcpRoute({
    routes: demoRoutes,
    progress: { status: async () => CHAINS, gaps: async () => [{ chain: 'eth', gaps: 'x'.repeat(30_000) }] },
    chains: ['eth', 'base'],
    clock: systemClock,
    sql: null,
    version: '1.2.3',
  });
  const scopes: readonly KeyScope[] = ['rpc', 'streams', 'admin'];
  const api = await exampleApi(scratch.database, [...demoRoutes, withScope('data', [route])], {
    keys: [{ key: RPC_KEY, scopes: new Set(scopes) }],
  });
  server = await serveApi(api, { host: '127.0.0.1', port: 0 });
  agent = await connectAgent(server.url, { key: EXAMPLE_KEY });
});
afterAll(() => server.close());

describe.each(['legacy', '2026-07-28'] as const)('a client of the revision %s', (revision) => {
  test('sees the tools that this server has routes for, with their parameters', async () => {
    const { client } = await connectAgent(server.url, { key: EXAMPLE_KEY, revision });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'status',
      'gaps',
      'wallet_net_worth',
      'wallet_token_transfers',
      'token_metadata',
      'token_price',
      'pair_candles',
      'resolve_name',
      'token_price_explanation',
    ]);
    expect(tools[3]).toMatchObject({
      description: 'ERC-20 transfers from and to a wallet.',
      inputSchema: {
        type: 'object',
        properties: { address: { type: 'string' }, limit: { type: 'integer' } },
        required: ['address'],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true },
    });
    expect(client.getServerVersion()).toMatchObject({ name: 'chainstead', version: '1.2.3' });
    expect(client.getInstructions()).toContain('Call status first');
  });

  test('calls one', async () => {
    const other = await connectAgent(server.url, { key: EXAMPLE_KEY, revision });
    const result = await other.call('resolve_name', { domain: 'a/b?c=d&e.eth' });
    expect(result).toEqual({
      isError: false,
      first: expect.stringMatching(/^Coverage: this result does not report its own blocks. Indexed: /),
      data: '{"domain":"a/b?c=d&e.eth","by":"config:1"}',
    });
  });
});

describe('a result', () => {
  test('starts with its coverage and says how to go on', async () => {
    const page = await agent.call('wallet_token_transfers', { address: '0x1', limit: 2 });
    expect(page.first).toBe(
      'Coverage: complete. Every requested block is indexed (blocks 5 to 9).\nMore rows exist: call this tool again with the same arguments and `cursor` from the result.',
    );
    expect(JSON.parse(page.data)).toMatchObject({ result: [{ n: 0 }, { n: 1 }], cursor: '2' });
    const next = await agent.call('wallet_token_transfers', { address: '0x1', cursor: '2' });
    expect(JSON.parse(next.data)).not.toHaveProperty('cursor');
  });

  test('has 20 rows unless the agent asks for more', async () => {
    const { data } = await agent.call('wallet_token_transfers', { address: '0x1' });
    expect(JSON.parse(data).result).toHaveLength(20);
  });

  test('that is too large becomes a smaller page, and no row is lost on the way', async () => {
    const seen: number[] = [];
    for (let cursor: string | null = null; cursor !== null || seen.length === 0; ) {
      const { data, first } = await agent.call('wallet_token_transfers', {
        address: '0x1',
        bytes: 3_000,
        limit: cursor === null ? DEMO_ROWS : 6,
        ...(cursor !== null && { cursor }),
      });
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(30_000);
      expect(first).toContain('Coverage: incomplete. Only blocks 5 to 9 are indexed');
      const page = JSON.parse(data);
      seen.push(...page.result.map(({ n }: { n: number }) => n));
      cursor = page.cursor ?? null;
    }
    expect(seen).toEqual(Array.from({ length: DEMO_ROWS }, (_, n) => n));
  });

  test('of a given cursor that is too large continues within the page', async () => {
    const seen: number[] = [];
    let cursor: string | undefined = '20';
    for (let calls = 0; cursor !== undefined && calls < 20; calls++) {
      const { data } = await agent.call('wallet_token_transfers', {
        address: '0x1',
        bytes: 3_000,
        limit: 30,
        cursor,
      });
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(30_000);
      const page = JSON.parse(data);
      seen.push(...page.result.map(({ n }: { n: number }) => n));
      cursor = page.cursor;
    }
    expect(seen).toEqual(Array.from({ length: DEMO_ROWS - 20 }, (_, n) => 20 + n));
  });

  test('with one row that is too large shows the start of its texts', async () => {
    const { data, first } = await agent.call('wallet_token_transfers', {
      address: '0x1',
      limit: 3,
      bytes: 100_000,
    });
    expect(JSON.parse(data)).toMatchObject({
      result: [{ n: 0, text: expect.stringMatching(/^é+…$/) }],
      cursor: '1',
    });
    expect(first).toContain('Cut: the data is larger than');
  });

  test('that is a bare array has its coverage from headers, and loses whole rows', async () => {
    const addresses = Array.from({ length: 40 }, (_, index) => `${index}-${'a'.repeat(1_000)}`);
    const { data, first } = await agent.call('token_metadata', { addresses });
    expect(first).toBe(
      'Coverage: no block of this request is indexed yet. An empty result does not mean that nothing happened.\n' +
        'Cut: only the first 29 of 40 rows follow, because a result has at most 30000 bytes. Narrow the request.',
    );
    expect(JSON.parse(data)).toEqual(addresses.slice(0, 29));
  });

  test.each([
    ['of 2025', '2025-11-25', 2, false],
    ['of 2026', undefined, 1, true],
  ])('has its data once for a client %s', async (_name, revision, texts, isStructured) => {
    const { client } = await connectAgent(server.url, {
      key: EXAMPLE_KEY,
      revision: revision === undefined ? '2026-07-28' : 'legacy',
    });
    const result = await client.callTool({
      name: 'wallet_token_transfers',
      arguments: { address: '0x1', limit: 2 },
    });
    expect(result.content).toHaveLength(texts);
    expect(result.structuredContent !== undefined).toBe(isStructured);
    const { tools } = await client.listTools();
    expect(tools.every(({ outputSchema }) => (outputSchema !== undefined) === isStructured)).toBe(true);
    if (isStructured)
      expect(result.structuredContent).toEqual({
        coverage: 'Coverage: complete. Every requested block is indexed (blocks 5 to 9).',
        notes: [expect.stringContaining('More rows exist')],
        data: expect.objectContaining({ cursor: '2' }),
      });
  });

  test('has both forms for a client that states no revision', async () => {
    const response = await post(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"token_metadata","arguments":{"addresses":["a"]}}}',
      EXAMPLE_KEY,
    );
    expect(await response.json()).toMatchObject({
      result: { content: [{}, { text: '["a"]' }], structuredContent: { data: ['a'] } },
    });
  });

  test('of several chains has the coverage of each', async () => {
    const { first } = await agent.call('wallet_net_worth', { address: '0x1' });
    expect(first).toBe(
      'Coverage: eth: complete. Every requested block is indexed (blocks 1 to 9). ' +
        'base: incomplete. Only blocks 2 to 3 are indexed, so older data may be missing. The tool gaps shows the rest.',
    );
  });

  test('of candles takes a range, relative dates and the limit of its route', async () => {
    const { tools } = await agent.client.listTools();
    const { inputSchema } = tools.find(({ name }) => name === 'pair_candles') ?? {};
    expect(inputSchema).toMatchObject({
      properties: { limit: { description: 'Default 20, at most 1000' }, range: {} },
      required: ['address'],
    });
    const page = async (given: object) =>
      JSON.parse((await agent.call('pair_candles', { address: '0x1', ...given })).data);
    const { fromDate, toDate, limit, cursor } = await page({ range: 'last 7 days' });
    expect(Date.parse(toDate) - Date.parse(fromDate)).toBe(7 * 86_400_000);
    expect(limit).toBe('20');
    expect(await page({ range: 'last 7 days', limit: 30, cursor })).toEqual({ cursor: 'next' });
    expect(await page({ from_date: '2 days ago', to_date: 'now' })).toMatchObject({
      fromDate: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  test('can explain a price, by the route of the price', async () => {
    const { data } = await agent.call('token_price_explanation', { address: '0x1' });
    expect(JSON.parse(data)).toEqual({ explain: 'true' });
    expect(JSON.parse((await agent.call('token_price', { address: '0x1' })).data)).toEqual({});
  });

  test('is the same with null or an empty text for what the agent left out', async () => {
    const expected = await agent.call('wallet_token_transfers', { address: '0x1' });
    for (const nothing of [null, ''])
      expect(
        await agent.call('wallet_token_transfers', {
          address: '0x1',
          cursor: nothing,
          limit: nothing,
          bytes: nothing,
        }),
      ).toEqual(expected);
    expect(await agent.call('status', { chain: null })).toEqual(await agent.call('status'));
    const response = await post(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"status","arguments":null}}',
      EXAMPLE_KEY,
    );
    expect(await response.json()).toMatchObject({ result: { content: [{ text: 'Chains: eth, base.' }, {}] } });
  });

  test('of status can be narrowed to a chain', async () => {
    expect(await agent.call('status')).toEqual({
      isError: false,
      first: 'Chains: eth, base.',
      data: JSON.stringify(CHAINS),
    });
    expect((await agent.call('status', { chain: 'base' })).data).toBe('[{"chain":"base","head":3}]');
    expect((await agent.call('gaps')).first).toContain('Cut:');
  });
});

describe('an error', () => {
  test.each([
    ['wallet_token_transfers', {}, 'INVALID_PARAMETER', 'address is required'],
    ['wallet_token_transfers', { address: '' }, 'INVALID_PARAMETER', 'address is required'],
    [
      'wallet_token_transfers',
      { address: '0x1', limti: 3 },
      'INVALID_PARAMETER',
      '"limti" is no argument of wallet_token_transfers',
    ],
    ['wallet_token_transfers', { address: '0x1', limit: 0 }, 'INVALID_PARAMETER', 'limit: '],
    ['wallet_token_transfers', { address: { a: 1 } }, 'INVALID_PARAMETER', 'address: '],
    [
      'status',
      { chain: 'eht' },
      'INVALID_PARAMETER',
      'chain must be a chain with rows on this server (eth, base), "eht" was given',
    ],
    ['status', { chain: 7 }, 'INVALID_PARAMETER', 'chain must be a text of at most 100 characters'],
    ['delete_all', {}, 'UNKNOWN_TOOL', 'There is no tool "delete_all"'],
    ['__proto__', {}, 'UNKNOWN_TOOL', 'There is no tool "__proto__"'],
    ['sql', { sql: 'SELECT 1' }, 'UNKNOWN_TOOL', 'There is no tool "sql"'],
    ['resolve_name', { domain: 'broken' }, 'INTERNAL', 'Internal error'],
  ])('of %s with %j is %s', async (name, given, code, message) => {
    const refusal = refusalIn(await agent.call(name, given));
    expect(refusal).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(refusal.remedy).not.toBe('');
    expect(JSON.stringify(refusal)).not.toContain('secret');
  });

  test.each([
    ['no key', {}, 401, 'API key is missing'],
    ['a wrong key', { key: 'wrong-key-000' }, 401, 'Invalid key'],
    ['a key without the scope data', { key: RPC_KEY }, 403, 'lacks the scope \\"data\\"'],
  ])('of a client with %s is one of HTTP', async (_name, options, status, text) => {
    await expect(connectAgent(server.url, options)).rejects.toThrow(
      new RegExp(`${text.slice(0, 14).replaceAll('\\', '.')}|${status}`),
    );
    const response = await post(
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      'key' in options ? options.key : undefined,
    );
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(text)]);
  });

  test.each([
    ['no JSON', '{', 400],
    ['an empty body', '', 400],
    ['a batch', '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', 400],
    ['deep JSON', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, 400],
    ['a large body', `{"a":"${'x'.repeat(70_000)}"}`, 413],
    ['many values', `{"a":[${'1,'.repeat(20_000)}1]}`, 413],
  ])('of a request with %s is refused before any tool', async (_name, body, status) => {
    expect((await post(body, EXAMPLE_KEY)).status).toBe(status);
  });

  test.each(['GET', 'DELETE'])('%s has no session to open or end', async (method) => {
    const response = await fetch(`${server.url}/mcp`, { method, headers: { 'x-api-key': EXAMPLE_KEY } });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

test('calls at the same time get their own results', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `name-${index}.eth`);
  const results = await Promise.all(names.map((domain) => agent.call('resolve_name', { domain })));
  expect(results.map(({ data }) => JSON.parse(data).domain)).toEqual(names);
});

function post(body: string, key?: string): Promise<Response> {
  return fetch(`${server.url}/mcp`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(key !== undefined && { 'x-api-key': key }),
    },
  });
}
