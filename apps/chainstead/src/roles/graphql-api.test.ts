/** GraphQL of the API role: with its setting only, and without delay when the role stops. */

import { randomBytes } from 'node:crypto';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { startApi } from './api.ts';
import type { RunningRole } from './role.ts';

const KEY = 'graphql-test-key-0001';
const ROLE = `graphql_${randomBytes(6).toString('hex')}`;
const scratch = scratchOfFile();

beforeAll(async () => {
  await scratch.database.query(
    sql`CREATE ROLE ${rawSql(ROLE)} LOGIN PASSWORD 'secret' IN ROLE chainstead_reader`,
  );
  await scratch.database.query(
    sql`INSERT INTO blocks (chain_id, block_number, block_hash, block_timestamp) VALUES (1, 7, '\\x07', '2020-01-01T00:00:00Z')`,
  );
});
afterAll(async () => {
  await scratch.database.query(sql`DROP ROLE ${rawSql(ROLE)}`);
});

function start(more: Readonly<Record<string, string>>): Promise<RunningRole> {
  const variables = {
    ...{ CHAINS: 'eth', RPC_URLS_ETH: 'http://127.0.0.1:9', PORT: '0', API_KEYS: KEY },
    ...{ DATABASE_URL: scratch.url, ...more },
  };
  return startApi({
    configuration: parseConfiguration([environmentSource(variables)]).configuration,
    database: scratch.database,
    databaseUrl: scratch.url,
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    clock: systemClock,
  });
}

function readerUrl(): string {
  const url = new URL(scratch.url);
  url.username = ROLE;
  url.password = 'secret';
  return url.href;
}

function send(
  address: string | null,
  query: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${address}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY, ...headers },
    body: JSON.stringify({ query }),
  });
}

const BLOCKS = '{ analytics_blocks(chain: 1) { nodes { block_number block_hash } } }';

test('with its setting, it reads rows', async () => {
  const role = await start({ GRAPHQL: 'true', DATABASE_ANALYST_URL: readerUrl() });
  try {
    expect(await (await send(role.address, BLOCKS)).json()).toEqual({
      data: { analytics_blocks: { nodes: [{ block_number: '7', block_hash: '0x07' }] } },
    });
  } finally {
    await role.stop();
  }
});

test.each([
  ['127.0.0.1', 200],
  ['0.0.0.0', 405],
])('on %s, a browser gets status %i for GraphiQL', async (host, status) => {
  const role = await start({ GRAPHQL: 'true', DATABASE_ANALYST_URL: readerUrl(), HOST: host });
  try {
    const page = await fetch(`${role.address}/graphql`, { headers: { accept: 'text/html' } });
    const script = await fetch(`${role.address}/graphql/graphiql.js`);
    expect([page.status, script.ok]).toEqual([status, status === 200]);
  } finally {
    await role.stop();
  }
});

test('as a role with more rights, it refuses', async () => {
  const role = await start({ GRAPHQL: 'true', DATABASE_ANALYST_URL: scratch.url });
  try {
    const response = await send(role.address, BLOCKS);
    expect([response.status, await response.json()]).toEqual([
      503,
      {
        errors: [
          expect.objectContaining({ extensions: expect.objectContaining({ code: 'GRAPHQL_ROLE_UNSAFE' }) }),
        ],
      },
    ]);
  } finally {
    await role.stop();
  }
});

test('without its setting, there is none', async () => {
  const role = await start({});
  try {
    expect((await send(role.address, BLOCKS)).status).toBe(404);
  } finally {
    await role.stop();
  }
});
