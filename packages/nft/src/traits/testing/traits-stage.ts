import {
  type Address,
  createMetricsRegistry,
  type Registry,
  silentLogger,
  systemClock,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createKeptSubjects } from '@chainstead/sync';
import { type Closable, closeOf } from '@chainstead/testkit';
import { expect, vi } from 'vitest';
import { eth, type OwnersStage, openOwnersStage } from '../../owners/testing/owners-stage.ts';
import { metadataRoutes } from '../../single-nfts/metadata-routes.ts';
import { openJobs } from '../../testing/queued-histories.ts';
import { account } from '../../transfers/testing/example-moves.ts';
import { createTraitsRoutes } from '../traits-routes.ts';
import { createTraitsWorker } from '../traits-worker.ts';

/** Collections whose traits a key may leave waiting. */
export const PER_KEY = 3;
const READY_MS = 15_000;

/** An answer of any of the routes, with the members that tests look at. */
export interface Answer {
  readonly status: number;
  readonly body: {
    readonly traits: readonly {
      readonly trait_type: string;
      readonly values: readonly Readonly<Record<'trait_value' | 'count' | 'percentage' | 'rarity_label', unknown>>[];
    }[];
    readonly result: readonly Readonly<Record<string, unknown>>[];
    readonly cursor: string | null;
    readonly indexed: unknown;
    readonly status: string;
  };
}

/** The routes of traits over a database of its own, whose chain and documents are written by the test, and the worker that computes. */
export interface TraitsStage extends Closable {
  readonly owners: OwnersStage;
  readonly database: Database;
  readonly api: ApiApp;
  /** Of the worker. */
  readonly metrics: Registry;
  /** Mints these ids of a collection of ERC-721, one each, in a block. */
  mint(contract: Address, ids: readonly number[], block?: number): Promise<void>;
  /** As the metadata worker leaves a document that it has read; null: it names none. */
  document(contract: Address, id: number | string, attributes: readonly unknown[] | null): Promise<void>;
  /** As it leaves one that can't be read: for good, or to be tried again. */
  failing(contract: Address, id: number, forGood: boolean): Promise<void>;
  /** Asks below `/api/v2.2/nft/`; with a body it posts. */
  ask(path: string, body?: unknown): Promise<Answer>;
  /** Asks until it is no 202 any more. */
  ready(path: string, body?: unknown): Promise<Answer>;
  /** Waits until nothing is worked on of the collection. */
  settled(contract: Address): Promise<void>;
}

export async function openTraitsStage(options: { readonly documentRate?: number } = {}): Promise<TraitsStage> {
  await using parts = new AsyncDisposableStack();
  const owners = parts.adopt(await openOwnersStage(), (one) => one.close());
  const { database, url } = owners.scratch;
  const logger = silentLogger();
  const metrics = createMetricsRegistry();
  const { jobs, historiesOf } = await openJobs(parts, url);
  const walletHistory = historiesOf(eth);
  const onDemand = { waitMs: 15_000, perKey: PER_KEY };
  const kept = createKeptSubjects(database);
  const api = await exampleApi(database, [
    ...createTraitsRoutes({ kept, walletHistory, ...onDemand }),
    ...metadataRoutes({ jobs, onDemand, clock: systemClock }),
  ]);
  await createTraitsWorker({
    database,
    kept,
    jobs,
    chains: [eth],
    documentRate: options.documentRate ?? 10_000,
    logger,
    metrics,
    sweepEveryMs: 50,
    lockMs: 2_000,
  }).start();

  const ask: TraitsStage['ask'] = async (path, body) => {
    const answer = await api.request(`/api/v2.2/nft/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': EXAMPLE_KEY, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  const waiting = { timeout: READY_MS, interval: 50 };
  return {
    owners,
    database,
    api,
    metrics,
    mint: (token, ids, block = 1) =>
      owners.add(
        block,
        ids.map((id) => ({ token, id: BigInt(id), from: ZERO_ADDRESS, to: account(id % 5), amount: 1n })),
      ),
    async document(contract, id, attributes) {
      await store(database, contract, id, {
        status: attributes === null ? 'none' : 'known',
        metadata: attributes === null ? null : JSON.stringify({ name: `#${id}`, attributes }),
        retry: null,
      });
    },
    failing: (contract, id, forGood) =>
      store(database, contract, id, { status: 'failed', metadata: null, retry: forGood ? 86_400 : 60 }),
    ask,
    ready: (path, body) =>
      vi.waitFor(async () => {
        const answer = await ask(path, body);
        expect(answer.status).not.toBe(202);
        return answer;
      }, waiting),
    settled: (contract) =>
      vi.waitFor(async () => {
        const [row] = await database.query<{ work: string | null }>(
          'SELECT work FROM nft_collection_traits WHERE token_address = $1',
          [addressBytes(contract)],
        );
        expect(row).toEqual({ work: null });
      }, waiting),
    ...closeOf(parts),
  };
}

/** Of what the metadata worker does. @param retry seconds until it tries again; null: not by itself */
async function store(
  database: Database,
  contract: Address,
  id: number | string,
  found: { readonly status: string; readonly metadata: string | null; readonly retry: number | null },
): Promise<void> {
  await database.query(
    `INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, metadata, token_uri, synced_at, due_at, attempts)
     VALUES ($1, $2, $3, $4, $5, 'https://x.example', CASE WHEN $4 <> 'failed' THEN now() END, now() + make_interval(secs => $6), 1)
     ON CONFLICT (token_address, chain_id, token_id) DO UPDATE SET status = excluded.status, metadata = coalesce(excluded.metadata, nft_token_metadata.metadata),
       synced_at = coalesce(excluded.synced_at, nft_token_metadata.synced_at), due_at = excluded.due_at, attempts = nft_token_metadata.attempts + 1`,
    [addressBytes(contract), eth.id, String(id), found.status, found.metadata, found.retry],
  );
}
