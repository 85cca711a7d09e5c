/** Agents with the official client, over HTTP and through `chainstead mcp`, on all data routes of the program. */

import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { environmentSource, parseConfiguration } from 'chainstead/src/configuration/index.ts';
import { createDatasetRoutes } from 'chainstead/src/datasets/index.ts';
import { agentRoutes, openSql } from 'chainstead/src/roles/agent-routes.ts';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

const WALLET = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
/** The head of the only chain; its blocks from 5 on are indexed. */
const HEAD = 120;
const ROLE = `agent_${randomBytes(6).toString('hex')}`;
const ENTRY = fileURLToPath(new URL('../../../apps/chainstead/bin/chainstead.js', import.meta.url));

const scratch = scratchOfFile();
let server: ApiServer;
const clients: Client[] = [];

beforeAll(async () => {
  const { database } = scratch;
  await database.query(sql`CREATE ROLE ${rawSql(ROLE)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`);
  const agentUrl = new URL(scratch.url);
  agentUrl.username = ROLE;
  agentUrl.password = 'secret';
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed, checkpoint, head, updated_at)
     VALUES (1, 'eth', 5, 5, ${rawSql(HEAD)}, ${rawSql(HEAD)}, now())`,
  );
  await database.query(
    sql`INSERT INTO sync_ranges (chain_id, dataset, first_block, last_block, proof)
     SELECT 1, dataset, 5, ${rawSql(HEAD)}, 'receipts' FROM unnest(ARRAY['erc20-transfers', 'nft-transfers']) AS dataset`,
  );
  const { configuration } = parseConfiguration([
    environmentSource({
      CHAINS: 'eth',
      RPC_URLS_ETH: 'http://127.0.0.1:9',
      MCP_SQL: 'true',
      DATABASE_ANALYST_URL: agentUrl.href,
    }),
  ]);
  const logger = silentLogger();
  const chains = createChainRegistry();
  const routes = createDatasetRoutes({
    database,
    logger,
    chains: [chains.get('eth')],
    onDemand: { waitMs: 0, maxCalls: 0, perKey: 1 },
    clock: systemClock,
  });
  const context = {
    configuration,
    database,
    databaseUrl: scratch.url,
    logger,
    metrics: createMetricsRegistry(),
    clock: systemClock,
  };
  const api = await createApiUnderTest(
    database,
    chains,
    [...routes, agentRoutes(context, routes, openSql(context))],
    {
      chains: [chains.get('eth')],
      datasets: configuration.datasets.map(({ name }) => name),
    },
  );
  server = await serveApi(api, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.close();
  await scratch.database.query(sql`DROP ROLE ${rawSql(ROLE)}`);
});

const TRANSPORTS = {
  HTTP: () =>
    new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit: { headers: { authorization: `Bearer ${TEST_KEY}` } },
    }),
  'chainstead mcp': () => stdio({ CHAINSTEAD_API_KEY: TEST_KEY }),
};

function stdio(environment: Readonly<Record<string, string>>): StdioClientTransport {
  const { PATH = '', HOME = '' } = process.env;
  return new StdioClientTransport({
    command: process.execPath,
    args: [ENTRY, 'mcp', '--url', server.url],
    env: { PATH, HOME, ...environment },
  });
}

async function connect(open: () => StreamableHTTPClientTransport | StdioClientTransport): Promise<Client> {
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(open());
  clients.push(client);
  return client;
}

const textsShape = z.array(z.object({ text: z.string() }));

async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: given });
  return { isError, texts: textsShape.parse(content).map(({ text }) => text) };
}

describe.each(Object.entries(TRANSPORTS))('over %s', (_name, open) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(open);
  });

  test('an agent sees every tool, with a schema', async () => {
    const { tools } = await client.listTools();
    // About 6,000 tokens of four characters.
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(24_000);
    expect(tools.length).toBeGreaterThan(30);
    for (const { description, inputSchema } of tools) {
      expect(description).toMatch(/\.$/);
      for (const property of Object.values(inputSchema.properties ?? {}))
        expect(property).toMatchObject({ description: expect.any(String) });
    }
  });

  test('progress, coverage and SQL are those of the database', async () => {
    const status = await call(client, 'status', { chain: 'eth' });
    expect(JSON.parse(status.texts[1] ?? '')).toMatchObject([
      { chain: 'eth', indexed_to: HEAD, blocks_behind: 0 },
    ]);
    const gaps = await call(client, 'gaps');
    expect(JSON.parse(gaps.texts[1] ?? '')[0].indexed).toContainEqual({
      dataset: 'erc20-transfers',
      from_block: 5,
      to_block: HEAD,
      proof: 'receipts',
    });
    const transfers = await call(client, 'wallet_token_transfers', { address: WALLET });
    expect(transfers.texts[0]).toContain(`blocks 5 to ${HEAD}`);
    expect(await call(client, 'sql', { sql: 'SELECT 7 AS n' })).toEqual({
      isError: false,
      texts: [expect.stringContaining('All 1 rows follow.'), '[{"n":7}]'],
    });
    const hostile = await call(client, 'sql', { sql: 'SELECT * FROM public.api_keys' });
    expect([hostile.isError, hostile.texts[0]]).toEqual([true, expect.stringContaining('"code":"SQL_REFUSED"')]);
  });
});

test('chainstead mcp without a key names the problem, and ends when its input ends', async () => {
  const transport = stdio({});
  const client = await connect(() => transport);
  await expect(client.listTools()).rejects.toThrow(/HTTP status 401.*API key is missing/);
  expect(await call(client, 'status')).toEqual({
    isError: true,
    texts: [expect.stringContaining('"code":"SERVER_REFUSED"')],
  });
});
