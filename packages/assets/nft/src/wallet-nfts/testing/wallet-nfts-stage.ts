import { createChainRegistry } from '@chainstead/chains';
import { sql } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi, type PageAnswer } from '@chainstead/http/testing';
import type { SyncState } from '@chainstead/pages';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import {
  addressOf,
  type Closable,
  closeOf,
  createScratchDatabase,
  type ScratchDatabase,
} from '@chainstead/testkit';
import type { ownedNftView } from '../../records/record-response.ts';
import { createWalletNftsRoute, type WalletNftsOptions } from '../wallet-nfts-route.ts';
import { cover, type SeededHolding, seedWallet } from './seeded-wallet.ts';

export const eth = createChainRegistry().get('eth');
export const WALLET = addressOf(0xa11ce);

export interface WalletNfts extends Omit<PageAnswer<typeof ownedNftView>, 'total'> {
  readonly status: SyncState['status'];
  readonly status_message?: string;
}

/** The route with a separate database; no worker runs. */
export interface WalletNftsStage extends Closable {
  readonly scratch: ScratchDatabase;
  readonly api: ApiApp;
  request(query?: string, wallet?: string): Promise<Response>;
  /** @throws if the response is an error */
  get(query?: string): Promise<WalletNfts>;
  hold(...holdings: readonly SeededHolding[]): Promise<void>;
  cover(from: number, to: number): Promise<void>;
  empty(): Promise<void>;
}

export async function openWalletNftsStage(options: Partial<WalletNftsOptions> = {}): Promise<WalletNftsStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const { database } = scratch;
  const onDemandBackfill = { requestWallet: async () => 'requested' as const };
  const projections = createSubjectProjections(database);
  const api = await exampleApi(database, [createWalletNftsRoute({ projections, onDemandBackfill, ...options })]);
  const request: WalletNftsStage['request'] = async (query = '', wallet = WALLET) =>
    api.request(`/api/v2.2/${wallet}/nft${query}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  return {
    scratch,
    api,
    request,
    async get(query) {
      const answer = await request(query);
      const text = await answer.text();
      if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
      return JSON.parse(text);
    },
    hold: (...holdings) => seedWallet(database, eth, WALLET, holdings),
    cover: (from, to) => cover(database, eth, from, to),
    async empty() {
      await database.query(
        sql`TRUNCATE nft_wallet_tokens, subject_projections, sync_ranges, subject_ranges, backfill_requests, tokens, nft_collections,
           nft_token_metadata, collection_list_entries, spam_list_entries, nft_transfers`,
      );
    },
    ...closeOf(parts),
  };
}

/** `contract:id` of a page's rows, contracts as numbers. */
export function tokensOf({ result }: WalletNfts): string[] {
  return result.map(({ token_address, token_id }) => `${Number(token_address)}:${token_id}`);
}
