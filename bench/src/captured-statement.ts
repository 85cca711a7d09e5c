import { randomBytes } from 'node:crypto';
import { createAptosRoutes } from '@chainstead/aptos';
import { createChainRegistry } from '@chainstead/chains';
import { createCursorCodec, createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { createDatasetRoutes } from '@chainstead/datasets';
import type { Database } from '@chainstead/db';
import { ALL_SCOPES, createApi, createKeyStore } from '@chainstead/http';
import { BenchmarkError } from './benchmark-error.ts';

/** A statement with its values, as the product would send it. */
export interface CapturedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What the product first asks Postgres for a request, read off by letting it ask a database that only listens. */
export async function captureStatement(path: string): Promise<CapturedStatement> {
  let captured: CapturedStatement | null = null;
  const refuse = (): never => {
    throw new BenchmarkError('Only queries are listened to');
  };
  const database: Database = {
    get pool() {
      return refuse();
    },
    query: async (text, values = []) => {
      captured ??= { text, values };
      return [];
    },
    transaction: refuse,
    until: refuse,
    session: refuse,
    close: async () => {},
  };
  const registry = createChainRegistry();
  const app = createApi({
    chains: registry,
    database,
    logger: silentLogger(),
    metrics: createMetricsRegistry(),
    keys: createKeyStore({ database, configured: [{ key: LISTENER_KEY, scopes: ALL_SCOPES }] }),
    cursors: createCursorCodec(randomBytes(32)),
    limits: { bodyBytesMax: 1_024, pageLimitMax: 100, requestTimeoutMs: 10_000, rateLimit: null },
    host: '127.0.0.1',
    cors: { origins: '*' },
    version: '0.0.0',
    readiness: async () => ({ ready: true, reasons: [] }),
    routes: [
      ...createDatasetRoutes({
        jobs: { backend: 'postgres', queue: refuse, close: async () => {} },
        chains: [],
        onDemand: { waitMs: 0, maxCalls: 0, perKey: 1 },
        clock: systemClock,
      }),
      ...createAptosRoutes({ indexed: ['mainnet'] }),
    ],
  });
  await app.request(path, { headers: { 'x-api-key': LISTENER_KEY } });
  if (captured === null) throw new BenchmarkError(`${path} asked the database nothing`);
  return captured;
}

const LISTENER_KEY = 'listener-key';
