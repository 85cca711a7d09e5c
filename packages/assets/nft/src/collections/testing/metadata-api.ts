import type { ServerResponse } from 'node:http';
import { createChainRegistry } from '@chainstead/chains';
import { type Address, type Clock, systemClock } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { type ChainNode, createScratchDatabase, type ScratchDatabase, storeToken } from '@chainstead/testkit';
import { metadataRoutes } from '../../single-nfts/metadata-routes.ts';
import { type ExampleContract, serveContracts } from './example-contracts.ts';
import { startReading } from './example-reading.ts';
import { type ExampleServer, serveExample } from './example-server.ts';

export const eth = createChainRegistry().get('eth');
/** Jobs that a key may queue. */
export const PER_KEY = 3;
/** Long enough for a stalled machine. */
const WAIT_MS = 15_000;

/**
 * The metadata routes with a separate database, contracts on a node, documents on a server, and a worker if a test
 * starts one.
 */
export interface MetadataStage {
  readonly scratch: ScratchDatabase;
  readonly node: ChainNode;
  readonly documents: ExampleServer;
  /** Requests for `/held` that wait for a response. */
  readonly held: ServerResponse[];
  readonly contracts: Map<Address, ExampleContract>;
  openApi(waitMs?: number, clock?: Clock, perKey?: number): Promise<ApiApp>;
  /** @returns a function that stops it from claiming more */
  startWorker(): Promise<() => Promise<void>>;
  /** Marks a contract as the sync engine does when it has seen its events (`tokens.seen_as`). */
  see(address: Address, bits: number): Promise<void>;
  close(): Promise<void>;
}

export async function openMetadataStage(): Promise<MetadataStage> {
  const contracts = new Map<Address, ExampleContract>();
  const held: ServerResponse[] = [];
  const [scratch, node, documents] = await Promise.all([
    createScratchDatabase(),
    serveContracts(contracts, eth.id),
    serveExample({
      '/document': '{"name":"Cats","image":"https://x.example/1.png","discord":"abc"}',
      '/held': (_, response) => void held.push(response),
    }),
  ]);
  const closers: (() => Promise<void>)[] = [];
  return {
    scratch,
    node,
    documents,
    held,
    contracts,
    openApi: (waitMs = WAIT_MS, clock = systemClock, perKey = PER_KEY) =>
      exampleApi(scratch.database, metadataRoutes({ onDemand: { perKey }, clock }), { onDemand: { waitMs } }),
    async startWorker() {
      const worker = await startReading({ database: scratch.database, node });
      closers.push(() => worker.close());
      return () => worker.work.close();
    },
    async see(address, bits) {
      await storeToken(scratch.database, eth.id, address, { seen_as: bits, name: 'Seen' });
    },
    async close() {
      for (const close of closers) await close();
      await node.close();
      await documents.close();
      await scratch.drop();
    },
  };
}

/** Sends a request below `/api/v2.2/nft/`, with the key. */
export async function ask(api: ApiApp, path: string, method = 'GET') {
  const response = await api.request(`/api/v2.2/nft/${path}`, { method, headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: response.status, headers: response.headers, body: Object(await response.json()) };
}

/** The response fields without any data. */
export const NOTHING_SAID = {
  collection_logo: null,
  collection_banner_image: null,
  collection_category: null,
  project_url: null,
  wiki_url: null,
  discord_url: null,
  telegram_url: null,
  twitter_username: null,
  instagram_username: null,
  base_uri: null,
};
