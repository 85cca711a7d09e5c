import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLogger } from '@chainstead/core';
import { type Database, openDatabase, startEmbeddedPostgres } from '@chainstead/db';
import { type Closable, closeOf } from '@chainstead/testkit';
import { type Child, startChild } from './child.ts';
import { type PageLoad, startPageLoad } from './page-load.ts';
import { everyPath, randomPath } from './page-paths.ts';
import { SoakError } from './soak-error.ts';
import { askOnce } from './warm-pages.ts';
import type { PaceOrder, WorldPlan, WorldReport } from './world.ts';

export interface StagePlan {
  readonly world: WorldPlan;
  readonly pagesPerSecond: number;
  /** More configuration of the program. */
  readonly env: Readonly<Record<string, string>>;
}

/** Everything that runs in a soak. */
export interface Stage extends Closable {
  readonly database: Database;
  /** As the server's superuser. */
  readonly admin: Database;
  readonly program: Child;
  readonly world: WorldReport;
  readonly pages: PageLoad;
  readonly apiUrl: string;
  readonly postgresPid: number;
  /** Lines that the program wrote since it was last asked: warnings and errors by their message. */
  takeComplaints(): Record<string, number>;
  tell<T>(order: string, body: object): Promise<T>;
}

const API_KEY = 'soak-key-0123456789';
const PROGRAM = fileURLToPath(new URL('../../chainstead/bin/chainstead.js', import.meta.url));
const WORLD = fileURLToPath(new URL('./world-process.ts', import.meta.url));
/** Blocks a second while pages are asked for the first time. */
const WARM_UP_RATE = 4;
/** Of the chain `eth`. */
export const CONFIRMATIONS = 12;

/** Starts Postgres, the world, the program and the load; adds the streams. Ends all of it when a part does not start. */
export async function openStage(plan: StagePlan): Promise<Stage> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-soak-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const server = await startEmbeddedPostgres({ dataDir: folder, logger: silentLogger() });
  parts.defer(() => server.stop());
  const postgresPid = Number((await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const worldProcess = startChild({ args: [WORLD, JSON.stringify(plan.world)] });
  parts.defer(() => worldProcess.stop());
  const world = await worldProcess.line((line): WorldReport | undefined =>
    line.startsWith('{') ? JSON.parse(line) : undefined,
  );
  const program = startChild({ args: [PROGRAM, 'start'], env: environment(plan, world, server.url) });
  parts.defer(() => program.stop());
  const takeComplaints = collectComplaints(program);
  const apiUrl = await program.line((line) => /API +(http:\/\/[^/\s]+)\/api/.exec(line)?.[1]);
  const database = open(server.url);
  const adminUrl = new URL(server.superuserUrl);
  adminUrl.pathname = new URL(server.url).pathname;
  const admin = open(adminUrl.href);
  parts.defer(async () => void (await Promise.all([database.close(), admin.close()])));
  const tell = <T>(order: string, body: object): Promise<T> => post<T>(`${world.controlUrl}/${order}`, body);
  await tell('watch', await addStreams(apiUrl, plan.world.chainId, world));
  await warmPages(tell, apiUrl, world);
  const pages = startPageLoad({
    url: apiUrl,
    apiKey: API_KEY,
    perSecond: plan.pagesPerSecond,
    path: randomPath(world, plan.world.seed),
  });
  parts.defer(() => pages.stop());
  return { database, admin, program, world, pages, apiUrl, postgresPid, takeComplaints, tell, ...closeOf(parts) };
}

function environment({ env }: StagePlan, { nodeUrl }: WorldReport, databaseUrl: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    PORT: '0',
    API_KEYS: API_KEY,
    CHAINS: 'eth',
    RPC_URLS_ETH: nodeUrl,
    START_BLOCK_ETH: '0',
    POLL_INTERVAL_MS_ETH: '50',
    CONFIRMATIONS_ETH: String(CONFIRMATIONS),
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32',
    LOG_LEVEL: 'warn',
    ...env,
  };
}

/** Asks for every page once: a first request for a wallet has what it holds counted, which is no part of a rate that lasts. */
async function warmPages(tell: Stage['tell'], apiUrl: string, world: WorldReport): Promise<void> {
  await tell('pace', { blocksPerSecond: WARM_UP_RATE, reorgEverySeconds: 0 } satisfies PaceOrder);
  await askOnce({ url: apiUrl, apiKey: API_KEY, paths: everyPath(world) });
}

function open(url: string): Database {
  return openDatabase({ url, applicationName: 'chainstead-soak', poolSize: 3, logger: silentLogger() });
}

/** A stream for each watched contract. @returns whose webhooks the world is to expect */
async function addStreams(
  apiUrl: string,
  chainId: number,
  { watched, webhookUrl }: WorldReport,
): Promise<{ secret: string; streamIds: string[] }> {
  const ask = <T>(method: string, path: string, body?: object): Promise<T> =>
    post<T>(`${apiUrl}${path}`, body, method, { 'x-api-key': API_KEY });
  const { secretKey: secret } = await ask<{ secretKey: string }>('GET', '/settings');
  const streamIds: string[] = [];
  for (const [place, address] of watched.entries()) {
    const { id } = await ask<{ id: string }>('PUT', '/streams/evm', {
      webhookUrl: `${webhookUrl}/${place}`,
      description: `soak ${place}`,
      tag: 'soak',
      chainIds: [`0x${chainId.toString(16)}`],
      includeContractLogs: true,
    });
    await ask('POST', `/streams/evm/${id}/address`, { address });
    streamIds.push(id);
  }
  return { secret, streamIds };
}

function collectComplaints(program: Child): () => Record<string, number> {
  let complaints: Record<string, number> = {};
  program.onLine((line) => {
    const found = /"level":"?(?:warn|error|fatal|40|50|60)"?.*"msg":"([^"]*)"/.exec(line)?.[1];
    const text = found ?? (/\b(?:WARN|ERROR|FATAL)\b/.test(line) ? line.slice(0, 200) : undefined);
    if (text !== undefined) complaints[text] = (complaints[text] ?? 0) + 1;
  });
  return () => {
    const taken = complaints;
    complaints = {};
    return taken;
  };
}

async function post<T>(
  url: string,
  body: object | undefined,
  method = 'POST',
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok)
    throw new SoakError(
      `${method} ${url} answered ${response.status}: ${text.slice(0, 300)}`,
      'This is no fault of yours',
    );
  return JSON.parse(text) as T;
}
