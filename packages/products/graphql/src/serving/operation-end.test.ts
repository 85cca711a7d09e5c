/** Operations end with their requests, and their room returns. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type GraphqlStage, OTHER_KEYS, openGraphqlStage } from '../testing/graphql-stage.ts';
import { seedVault, writeDeposits } from '../testing/seeded-vault.ts';

const scratch = scratchOfFile();
const stage: GraphqlStage = stageOfFile(() => openGraphqlStage(scratch, { timeoutMs: 60_000, unreadMs: 60_000 }));
const impatient: GraphqlStage = stageOfFile(() =>
  openGraphqlStage(scratch, { timeoutMs: 60_000, unreadMs: 2_000 }),
);
const clients: Socket[] = [];

/** One result leaves no room for a second in the 16 MiB of a key. It can't be compressed below 11 MB. */
const LARGE = '{ contracts_vault_deposit(chain: 1) { nodes { note } } }';
const NOTES = 15;
const SMALL = '{ contracts_vault_deposit(chain: 1, first: 1) { nodes { log_index } } }';
const WAIT = { timeout: 20_000 };

beforeAll(async () => {
  await seedVault(scratch.database);
  const note = () => randomBytes(750_000).toString('base64');
  await writeDeposits(
    scratch.database,
    Array.from({ length: NOTES }, (_, log) => ({ block: 10, log, note: note() })),
  );
  expect(await statusOf(SMALL)).toBe(200);
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});

const post = (query: string, { url = stage.url, key = EXAMPLE_KEY, signal = null as AbortSignal | null } = {}) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    body: JSON.stringify({ query }),
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    signal,
  });

async function statusOf(...request: Parameters<typeof post>): Promise<number> {
  const response = await post(...request);
  await response.arrayBuffer();
  return response.status;
}

/** Sends an operation over a connection, and reads nothing after the status of its response. */
async function statusOfUnread(
  query: string,
  encoding: string,
  { url = stage.url, key = EXAMPLE_KEY } = {},
): Promise<string> {
  const body = JSON.stringify({ query });
  const client = connect(Number(new URL(url).port), '127.0.0.1').pause();
  client.on('error', () => client.destroy());
  client.write(
    `POST /graphql HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n` +
      `Accept-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  clients.push(client);
  await once(client, 'readable');
  return String(client.read(12));
}

async function runningStatements(): Promise<number> {
  const found = await scratch.database.query(
    sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'chainstead graphql' AND state <> 'idle'`,
  );
  return found.length;
}

/** Statements of the work wait for a lock, for a second at most. */
function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  return scratch.database.transaction(async (transaction) => {
    await transaction.query(sql`LOCK TABLE contracts.vault_deposit IN ACCESS EXCLUSIVE MODE`);
    return work();
  });
}

describe('the room of results', () => {
  test('returns if they come after the timeout of their requests', async () => {
    const hasty = await stage.serveWithin(200);
    try {
      const statuses = await whileLocked(() =>
        Promise.all(Array.from({ length: 3 }, () => statusOf(LARGE, { url: hasty.url }))),
      );
      expect(statuses).toEqual([503, 503, 503]);
      await expect.poll(runningStatements, WAIT).toBe(0);
      expect(await statusOf(LARGE)).toBe(200);
    } finally {
      await hasty.close();
    }
  });

  test.each(['gzip;q=0', 'br'])(
    'is taken until they are read or the client leaves, also with Accept-Encoding: %s',
    async (encoding) => {
      expect(await statusOfUnread(LARGE, encoding)).toBe('HTTP/1.1 200');
      expect(await statusOf(LARGE)).toBe(503);
      expect(await statusOf(SMALL, { key: OTHER_KEYS[0] ?? '' })).toBe(200);
      for (const client of clients.splice(0)) client.destroy();
      await expect.poll(() => statusOf(LARGE), WAIT).toBe(200);
    },
  );
});

// Invariant: FAIR-KEYS
test('results that four keys leave unread are abandoned, so one more key gets its result', async () => {
  const { url } = impatient;
  for (const key of [EXAMPLE_KEY, ...OTHER_KEYS.slice(0, 3)])
    expect(await statusOfUnread(LARGE, 'gzip;q=0', { url, key })).toBe('HTTP/1.1 200');
  const key = OTHER_KEYS[3] ?? '';
  expect(await statusOf(LARGE, { url, key })).toBe(200);
});

describe('an operation', () => {
  test('ends in Postgres when its client leaves', async () => {
    await scratch.database.query(sql`ALTER VIEW analytics.blocks RENAME TO fast_blocks`);
    await scratch.database.query(
      sql`CREATE VIEW analytics.blocks AS SELECT b.* FROM analytics.fast_blocks b, (SELECT pg_sleep(600)) AS sleep OFFSET 0`,
    );
    await scratch.database.query(sql`GRANT SELECT ON analytics.blocks TO chainstead_reader`);
    try {
      const leaving = new AbortController();
      const { signal } = leaving;
      const query = '{ analytics_blocks(chain: 1) { nodes { block_number } } }';
      const left = Promise.allSettled(Array.from({ length: 20 }, () => post(query, { signal })));
      await expect.poll(runningStatements, WAIT).toBe(2);
      leaving.abort();
      await left;
      // Without its client, the statement would run for a minute.
      await expect.poll(runningStatements, WAIT).toBe(0);
      expect(await statusOf('{ __typename }')).toBe(200);
    } finally {
      await scratch.database.query(sql`DROP VIEW analytics.blocks`);
      await scratch.database.query(sql`ALTER VIEW analytics.fast_blocks RENAME TO blocks`);
    }
  });

  test('of another key runs while many of one key wait', async () => {
    const waiting = await whileLocked(async () => {
      const all = Promise.all(Array.from({ length: 70 }, () => statusOf(SMALL)));
      await expect.poll(runningStatements, WAIT).toBe(2);
      expect(await statusOf('{ __typename }', { key: OTHER_KEYS[0] ?? '' })).toBe(200);
      return { all };
    });
    await waiting.all;
  });
});
