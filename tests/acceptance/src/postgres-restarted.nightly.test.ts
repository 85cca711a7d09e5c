/** The whole program over a Postgres server of the same user, which is stopped and started again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { openDatabase, startEmbeddedPostgres } from '@chainstead/db/server';
import { freePort, startWebhookReceiver, TRANSFER_TOPIC, type WebhookReceiver } from '@chainstead/testkit';
import { erc20Abi } from 'viem';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { scriptedChainFacts } from './indexed-chain.ts';
import { type OutageStage, startOutageStage, WAIT } from './outage-stage.ts';
import { expectTransferRows } from './transfer-rows.ts';

const CONFIRMATIONS = 3;
const { id: CHAIN_ID } = scriptedChainFacts(31_337);
/** Lines of the API, of ingestion and of the worker: each logs an outage once. */
const PROCESSES = 3;
/** In addition to the lines of each process: leases and connections that are lost, once each. */
const LINES_OF_AN_OUTAGE = 10;
const TRIED_AGAIN_MS = 5_000;

let folder: string;
let port: number;
let server: Awaited<ReturnType<typeof startEmbeddedPostgres>> | undefined;
let database: Database;
let receiver: WebhookReceiver;
let stage: OutageStage;

/** As an operator's server: the program knows its URL alone. */
function startServer(): ReturnType<typeof startEmbeddedPostgres> {
  const settings = { fsync: 'off', shared_buffers: '16MB' };
  return startEmbeddedPostgres({ dataDir: join(folder, 'server'), port, logger: silentLogger(), settings });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chainstead-restarted-'));
  port = await freePort();
  server = await startServer();
  database = openDatabase({ url: server.url, applicationName: 'test', logger: silentLogger() });
  receiver = await startWebhookReceiver();
  stage = await startOutageStage({
    seed: 13,
    environment: {
      DATABASE_URL: server.url,
      DATA_DIR: join(folder, 'state'),
      CONFIRMATIONS_SCRIPTED: String(CONFIRMATIONS),
      WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32',
    },
  });
});

afterAll(async () => {
  await stage?.close();
  await receiver?.close();
  await database?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A stream of all transfers. @returns the number of the last block that it does not concern */
async function watchTransfers(): Promise<number> {
  const created = await fetch(`${stage.address}/streams/evm`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      webhookUrl: `${receiver.url}/webhook`,
      description: 'all transfers',
      tag: 'restart',
      chainIds: [`0x${CHAIN_ID.toString(16)}`],
      allAddresses: true,
      includeContractLogs: true,
      topic0: ['Transfer(address,address,uint256)'],
      abi: erc20Abi.filter((item) => item.type === 'event' && item.name === 'Transfer'),
    }),
  });
  expect(created.status, await created.text()).toBe(200);
  return stage.chain.head;
}

/** `<block> <confirmed>` of every webhook that the chain gives reason for. */
function expectedWebhooks(after: number): string[] {
  const { chain } = stage;
  const blocks = chain
    .blocksIn({ from: after + 1, to: chain.head })
    .filter(({ scripted }) =>
      scripted.some(({ events }) =>
        events.some(({ topics }) => topics[0] === TRANSFER_TOPIC && topics.length === 3),
      ),
    );
  const confirmed = blocks.filter(({ number }) => number <= chain.head - CONFIRMATIONS);
  return [
    ...blocks.map(({ number }) => `${number} false`),
    ...confirmed.map(({ number }) => `${number} true`),
  ].toSorted();
}

/** Those that arrived, by their ids. The test webhook is none of them. */
function arrivedWebhooks(): Map<string, string[]> {
  const arrived = new Map<string, string[]>();
  for (const { headers, body } of receiver.received) {
    const { block, confirmed } = JSON.parse(body);
    const id = String(headers['webhook-id']);
    if (block.number !== '') arrived.set(id, [...(arrived.get(id) ?? []), `${block.number} ${confirmed}`]);
  }
  return arrived;
}

/** Until another job has been done, asked by way of `/metrics`. */
async function untilJobsGoOn(): Promise<void> {
  const done = async (): Promise<number> => {
    const metrics = await (await fetch(`${stage.address}/metrics`)).text();
    return Number(
      /^chainstead_jobs_total\{queue="token-facts-scripted",outcome="completed".* (\d+)$/m.exec(metrics)?.[1],
    );
  };
  const before = await done();
  await vi.waitFor(async () => expect(await done()).toBeGreaterThan(before), WAIT);
}

/** Until every webhook has arrived and been recorded as delivered. */
async function untilDelivered(after: number): Promise<void> {
  await vi.waitFor(async () => {
    const arrived = [...arrivedWebhooks().values()].map(([first]) => first);
    expect(arrived.toSorted()).toEqual(expectedWebhooks(after));
    const pending = await database.query(sql`SELECT id FROM stream_deliveries WHERE status = 'pending'`);
    expect(pending).toEqual([]);
  }, WAIT);
}

async function expectUnavailable(): Promise<void> {
  await stage.untilReady(503);
  for (const path of ['/ready', '/streams/evm?limit=1']) {
    const response = await fetch(stage.address + path);
    expect([path, response.status]).toEqual([path, 503]);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await response.text()).toContain('database');
  }
  const page = await stage.page();
  expect([page.status, await page.json()]).toEqual([
    503,
    { message: 'The database is unavailable: try again later' },
  ]);
  expect(page.headers.get('retry-after')).toMatch(/^\d+$/);
  expect((await fetch(`${stage.address}/health`)).status).toBe(200);
}

it('a server that stops and starts again: 503 meanwhile, then all goes on', {
  timeout: 300_000,
  retry: 0,
}, async () => {
  const { chain, program, said } = stage;
  const after = await watchTransfers();
  chain.mine(10);
  await untilDelivered(after);
  const before = program.output().length;

  // While nothing is under way.
  await server?.stop();
  await expectUnavailable();
  chain.mine(10);
  await vi.waitFor(() => expect(said('"msg":"Database unavailable"')).toBe(PROCESSES), WAIT);
  // Whatever tries again, and again, does so now.
  await delay(TRIED_AGAIN_MS);
  server = await startServer();
  await stage.untilReady(200);
  await stage.untilFollowed();
  await untilDelivered(after);
  await untilJobsGoOn();
  expect([...arrivedWebhooks().values()].filter(({ length }) => length > 1)).toEqual([]);

  // In the midst of blocks and webhooks.
  for (let block = 1; block <= 20; block += 1) {
    chain.mine();
    if (block === 10) await server?.stop();
    await delay(50);
  }
  await expectUnavailable();
  server = await startServer();
  await stage.untilFollowed();
  await untilDelivered(after);
  await untilJobsGoOn();
  // At least once: whatever was on its way when the server went may come again, as the same webhook.
  for (const attempts of arrivedWebhooks().values()) expect(new Set(attempts).size).toBe(1);
  expect((await stage.page()).status).toBe(200);
  await expectTransferRows(database, chain, CHAIN_ID);

  await vi.waitFor(() => expect(said('"msg":"Database available again"')).toBe(2 * PROCESSES), WAIT);
  expect(said('"msg":"Database unavailable"')).toBe(2 * PROCESSES);
  const lines = program.output().slice(before).split('\n');
  expect(lines.filter((line) => line.includes('    at '))).toEqual([]);
  const complaints = lines.filter((line) => /"level":"(warn|error)"/.test(line));
  expect(complaints.length, complaints.join('\n')).toBeLessThan(2 * LINES_OF_AN_OUTAGE);
});
