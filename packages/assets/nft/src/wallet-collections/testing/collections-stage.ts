import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi, pageSchema } from '@chainstead/http/testing';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { type Closable, closeOf, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { z } from '@hono/zod-openapi';
import { historiesOf } from '../../testing/queued-histories.ts';
import { createWalletCollectionsRoute, walletCollectionView } from '../wallet-collections-route.ts';
import { contractOf, seedHoldings } from './seeded-holdings.ts';

const registry = createChainRegistry();
export const eth = registry.get('eth');
export const base = registry.get('base');
export const WALLET = contractOf(0xa11ce);

const walletCollectionsSchema = pageSchema(walletCollectionView).extend({
  status: z.enum(['SYNCED', 'SYNCING']),
  status_message: z.string().optional(),
});
export type Answer = z.infer<typeof walletCollectionsSchema>;

/** The route with a separate database. Ethereum is indexed; no worker runs. */
export interface CollectionsStage extends Closable {
  readonly scratch: ScratchDatabase;
  /** With wallet backfills of up to 500 calls, two per key. */
  readonly api: ApiApp;
  /** Indexes Base, with wallet backfills turned off. */
  readonly withoutHistories: ApiApp;
  request(query?: string, wallet?: string, app?: ApiApp): Promise<Response>;
  /** Returns the response, checked against the documented schema. @throws if it is an error */
  get(query?: string, wallet?: string, app?: ApiApp): Promise<Answer>;
  /** The wallet holds one id of the first contract, two of the second, … */
  hold(...contracts: readonly Address[]): Promise<void>;
  empty(): Promise<void>;
}

export async function openCollectionsStage(): Promise<CollectionsStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const { database } = scratch;
  const apiOf = (chain: Chain, maxCalls: number): Promise<ApiApp> => {
    const onDemandBackfill = historiesOf(chain, { perKey: 2, maxCalls });
    const projections = createSubjectProjections(database);
    return exampleApi(database, [createWalletCollectionsRoute({ projections, onDemandBackfill })]);
  };
  const api = await apiOf(eth, 500);
  const request: CollectionsStage['request'] = async (query = '', wallet = WALLET, app = api) =>
    app.request(`/api/v2.2/${wallet}/nft/collections${query}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return {
    scratch,
    api,
    withoutHistories: await apiOf(base, 0),
    request,
    async get(query, wallet, app) {
      const answer = await request(query, wallet, app);
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
      return walletCollectionsSchema.parse(JSON.parse(text));
    },
    hold: (...contracts) =>
      seedHoldings(
        database,
        eth,
        WALLET,
        contracts.map((contract, index) => ({ contract, ids: index + 1 })),
      ),
    async empty() {
      await database.query(
        sql`TRUNCATE nft_wallet_collections, subject_projections, sync_ranges, subject_ranges, backfill_requests, tokens, nft_collections,
           collection_list_entries, spam_list_entries`,
      );
    },
    ...closeOf(parts),
  };
}

export function addressesOf({ result }: Answer): string[] {
  return result.map((row) => row.token_address);
}
