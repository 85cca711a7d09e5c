import {
  type Address,
  createMetricsRegistry,
  type Registry,
  silentLogger,
  systemClock,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createDueWork } from '@chainstead/jobs/worker';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { type Closable, closeOf } from '@chainstead/testkit';
import { expect, vi } from 'vitest';
import { eth, type OwnersStage, openOwnersStage } from '../../owners/testing/owners-stage.ts';
import { metadataRoutes } from '../../single-nfts/metadata-routes.ts';
import { historiesOf } from '../../testing/queued-histories.ts';
import { account } from '../../transfers/testing/example-moves.ts';
import { createTraitsRoutes } from '../traits-routes.ts';
import { addTraits } from '../traits-worker.ts';

/** Collections whose traits a key may queue. */
export const PER_KEY = 3;
const READY_MS = 15_000;

/** A response of any of the routes, with the members that tests check. */
export interface Answer {
  readonly status: number;
  readonly body: {
    readonly traits: readonly {
      readonly trait_type: string;
      readonly values: readonly Readonly<
        Record<'trait_value' | 'count' | 'percentage' | 'rarity_label', unknown>
      >[];
    }[];
    readonly result: readonly Readonly<Record<string, unknown>>[];
    readonly cursor: string | null;
    readonly indexed: unknown;
    readonly status: string;
  };
}

/**
 * The trait routes with a separate database, whose chain and documents are written by the test, and the worker that
 * computes.
 */
export interface TraitsStage extends Closable {
  readonly owners: OwnersStage;
  readonly database: Database;
  readonly api: ApiApp;
  /** The worker's metrics. */
  readonly metrics: Registry;
  /** Mints these ids of an ERC-721 collection, one unit each, in a block. */
  mint(contract: Address, ids: readonly number[], block?: number): Promise<void>;
  /** Stores a document as the metadata worker does after reading it; null: the token has none. */
  document(contract: Address, id: number | string, attributes: readonly unknown[] | null): Promise<void>;
  /** Stores an unreadable document as the worker does: a permanent failure, or one to retry. */
  failing(contract: Address, id: number, forGood: boolean): Promise<void>;
  /** Sends a request below `/api/v2.2/nft/`; a POST if it has a body. */
  ask(path: string, body?: unknown): Promise<Answer>;
  /** Repeats the request until the response is not a 202. */
  ready(path: string, body?: unknown): Promise<Answer>;
  /** Waits until no work on the collection is left. */
  settled(contract: Address): Promise<void>;
}

export async function openTraitsStage(options: { readonly documentRate?: number } = {}): Promise<TraitsStage> {
  await using parts = new AsyncDisposableStack();
  const owners = parts.adopt(await openOwnersStage(), (one) => one.close());
  const { database } = owners.scratch;
  const logger = silentLogger();
  const metrics = createMetricsRegistry();
  const onDemandBackfill = historiesOf(eth);
  const onDemand = { perKey: PER_KEY };
  const projections = createSubjectProjections(database);
  const api = await exampleApi(database, [
    ...createTraitsRoutes({ projections, onDemandBackfill, ...onDemand }),
    ...metadataRoutes({ onDemand, clock: systemClock }),
  ]);
  const shared = { database, logger, metrics };
  const dueWork = parts.adopt(createDueWork({ ...shared, clock: systemClock, sweepEveryMs: 50 }), (one) =>
    one.close(2_000),
  );
  addTraits(dueWork, {
    ...shared,
    ...{ projections, chains: [eth], documentRate: options.documentRate ?? 10_000, stepEveryMs: 50 },
  });
  dueWork.start();

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
          sql`SELECT work FROM nft_collection_traits WHERE token_address = ${addressBytes(contract)}`,
        );
        expect(row).toEqual({ work: null });
      }, waiting),
    ...closeOf(parts),
  };
}

/** Stores the metadata worker's result. @param retry seconds until a retry; null: none scheduled */
async function store(
  database: Database,
  contract: Address,
  id: number | string,
  found: { readonly status: string; readonly metadata: string | null; readonly retry: number | null },
): Promise<void> {
  await database.query(
    sql`INSERT INTO nft_token_metadata (token_address, chain_id, token_id, status, metadata, token_uri, synced_at, due_at, attempts)
     VALUES (${addressBytes(contract)}, ${eth.id}, ${String(id)}, ${found.status}, ${found.metadata}, 'https://x.example', CASE WHEN ${found.status} <> 'failed' THEN now() END, now() + make_interval(secs => ${found.retry}), 1)
     ON CONFLICT (token_address, chain_id, token_id) DO UPDATE SET status = excluded.status, metadata = coalesce(excluded.metadata, nft_token_metadata.metadata),
       synced_at = coalesce(excluded.synced_at, nft_token_metadata.synced_at), due_at = excluded.due_at, attempts = nft_token_metadata.attempts + 1`,
  );
}
