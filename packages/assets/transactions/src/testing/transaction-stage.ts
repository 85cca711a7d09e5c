import { type Clock, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { openStateStage, type StateStage } from '@chainstead/node-reads/testing';
import { type Closable, closeOf, type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { createAbiBooks } from '../abis/abi-books.ts';
import { blockAtTimeReader } from '../dates/block-at-time-reader.ts';
import { createAskImplementations, implementationsReader } from '../proxies/contract-implementations.ts';
import { internalTransactionsReader } from '../reading/internal-transactions-reader.ts';
import { blockReader } from '../reading/read-block.ts';
import { transactionReader } from '../reading/transaction-reader.ts';
import { createTransactionRoutes } from '../routes/create-transaction-routes.ts';

/** Settings that tests change while the routes are served. */
export interface StageSettings {
  waitMs: number;
  maxCalls: number;
  perKey: number;
}

/** The routes behind a real socket, with a worker that reads a devnet through nodes that a test may alter. */
export interface TransactionStage extends Closable {
  readonly stage: StateStage;
  readonly server: ApiServer;
  readonly sdk: Moralis;
  readonly settings: StageSettings;
  ask(path: string): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }>;
  /** Deletes read data, and resets the nodes to correct responses. */
  reset(): Promise<void>;
}

const SETTINGS: StageSettings = { waitMs: 15_000, maxCalls: 10_000, perKey: 100 };

export async function openTransactionStage(upstreams = 1, clock: Clock = systemClock): Promise<TransactionStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.adopt(await openStateStage({ upstreams }), (one) => one.close());
  await stage.startWorker([
    implementationsReader,
    transactionReader,
    blockReader,
    blockAtTimeReader,
    internalTransactionsReader,
  ]);
  const settings = { ...SETTINGS };
  const onUnknown = createAskImplementations({
    nodeReads: stage.nodeReads,
    budget: { mayCall: true },
    logger: silentLogger(),
  });
  const routes = createTransactionRoutes({
    nodeReads: stage.nodeReads,
    onDemandBackfill: { requestSender: async () => 'unserved', requestReceiver: async () => 'unserved' },
    clock,
    abis: createAbiBooks({ onUnknown }),
    get maxCalls() {
      return settings.maxCalls;
    },
    get perKey() {
      return settings.perKey;
    },
  });
  const api = await exampleApi(stage.scratch.database, routes, { onDemand: settings });
  const server = parts.adopt(await serveApi(api, { host: '127.0.0.1', port: 0 }), (one) => one.close());
  const { Moralis: sdk } = await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url });
  return {
    ...{ stage, server, sdk, settings },
    async ask(path) {
      const answer = await fetch(`${server.url}/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
      return { status: answer.status, body: await answer.json(), headers: answer.headers };
    },
    async reset() {
      Object.assign(settings, SETTINGS);
      for (const node of [stage.node, ...stage.others]) node.alter = () => undefined;
      await stage.scratch.database.query(sql`TRUNCATE state_questions`);
    },
    ...closeOf(parts),
  };
}
