import { createMetricsRegistry, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createJobs, type Jobs } from '@chainstead/jobs';
import type { UpstreamPool } from '@chainstead/rpc';
import { createChainSync, createSyncMetrics } from '@chainstead/sync';
import {
  createScratchDatabase,
  type Devnet,
  deployMarket,
  exampleChain,
  examplePool,
  type Market,
  type ScratchDatabase,
  startDevnet,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { metadataRoutes } from '../single-nfts/metadata-routes.ts';
import { nftMetadataEvents } from './metadata-events-dataset.ts';
import { type ExampleReading, startReading } from './testing/example-reading.ts';

const soon = { timeout: 30_000, interval: 100 };
const ending = new AbortController();

let scratch: ScratchDatabase;
let devnet: Devnet;
let market: Market;
let worker: ExampleReading;
let jobs: Jobs;
let api: ApiApp;
let pool: UpstreamPool;
let syncing: Promise<void>;

/** A real node with real contracts, followed by the sync engine, read by the worker, asked through the API. */
beforeAll(async () => {
  [scratch, devnet] = await Promise.all([createScratchDatabase(), startDevnet({ chainId: 1 })]);
  market = await deployMarket(devnet);
  await devnet.send({ ...market.cats, functionName: 'mint', args: [devnet.accounts[0], 7n] });
  const chain = exampleChain({ pollIntervalMs: 50, finalizedTag: false, confirmations: 1 });
  pool = await examplePool(chain, devnet.url);
  const logger = silentLogger();
  syncing = createChainSync({
    chain,
    pool,
    database: scratch.database,
    datasets: [nftMetadataEvents],
    logger,
    metrics: createSyncMetrics(createMetricsRegistry()),
    clock: systemClock,
    settings: {
      startBlock: null,
      endBlock: null,
      proof: 'record',
      backfillProof: 'none',
      backfillOrder: 'newest-first',
      proverRate: 0,
    },
  }).run(ending.signal);
  worker = await startReading({
    database: scratch.database,
    home: { databaseUrl: scratch.url },
    node: { url: devnet.url, chainId: devnet.chainId },
  });
  jobs = await createJobs({ databaseUrl: scratch.url, logger, metrics: createMetricsRegistry() });
  const onDemand = { waitMs: 10_000, perKey: 100 };
  api = await exampleApi(scratch.database, metadataRoutes({ jobs, onDemand, clock: systemClock }));
});
afterAll(async () => {
  ending.abort();
  await syncing;
  await worker.close();
  await jobs.close();
  await pool.close();
  await devnet.stop();
  await scratch.drop();
});

async function ask(path: string, method = 'GET') {
  const response = await api.request(`/api/v2.2/nft/${path}`, { method, headers: { 'x-api-key': EXAMPLE_KEY } });
  return { status: response.status, body: Object(await response.json()) };
}

/** Written out, so that the console shows it on a machine without internet. */
const PNG = /^data:image\/png;base64,iVBORw0KGgo[\w+/=]+$/;

describe('on a real node', () => {
  test('an ERC-721 is described by the document in its contractURI', async () => {
    expect(await ask(`${market.cats.address}/metadata`)).toEqual({
      status: 200,
      body: {
        token_address: market.cats.address,
        name: 'Gallery Cats',
        symbol: 'GCAT',
        contract_type: 'ERC721',
        synced_at: expect.any(String),
        possible_spam: false,
        verified_collection: false,
        collection_logo: expect.stringMatching(PNG),
        collection_banner_image: 'https://cats.example/banner.png',
        collection_category: 'pfps',
        project_url: 'https://cats.example',
        wiki_url: 'https://wiki.example/cats',
        discord_url: 'https://discord.gg/cats',
        telegram_url: 'https://t.me/cats',
        twitter_username: 'gallerycats',
        instagram_username: 'gallerycats.insta',
        base_uri: null,
      },
    });
  });

  test('an ERC-1155 by its plain document, and one without a document by its own words', async () => {
    expect((await ask(`${market.prints.address}/metadata`)).body).toMatchObject({
      name: 'Gallery Prints',
      contract_type: 'ERC1155',
      collection_logo: expect.stringMatching(PNG),
    });
    expect((await ask(`${market.founders.address}/metadata`)).body).toMatchObject({
      name: 'Gallery Founders',
      symbol: 'GFOUND',
      contract_type: 'ERC721',
      collection_logo: null,
    });
  });

  test.each([
    ['an account', () => parseAddress(devnet.accounts[3] ?? ''), 'is not a contract'],
    ['an ERC-20', () => market.wrappedEther.address, 'is not an NFT contract'],
    ['a marketplace', () => market.seaport.address, 'is not an NFT contract'],
    ['a price feed', () => market.etherFeed.address, 'is not an NFT contract'],
  ])('%s is refused', async (_, address, message) => {
    const { status, body } = await ask(`${address()}/metadata`);
    expect([status, body.message]).toEqual([404, expect.stringContaining(message)]);
  });

  test('an event of the contract has its document read again by itself', async () => {
    await vi.waitFor(
      async () =>
        expect(await scratch.database.query('SELECT FROM sync_chains WHERE checkpoint IS NOT NULL')).toHaveLength(1),
      soon,
    );
    expect((await ask(`${market.cats.address}/metadata`)).status).toBe(200);
    await devnet.send({ ...market.cats, functionName: 'rename', args: ['newcats'] });
    await vi.waitFor(
      async () => expect((await ask(`${market.cats.address}/metadata`)).body.twitter_username).toBe('newcats'),
      soon,
    );
    expect(await scratch.database.query('SELECT kind FROM nft_metadata_events')).toEqual([{ kind: 1 }]);
  });

  test('an event of a token has its document read again, of tokens that were asked for', async () => {
    const mood = async (): Promise<string | undefined> => {
      const [row] = await scratch.database.query<{ mood: string }>(
        `SELECT metadata::jsonb -> 'attributes' -> 0 ->> 'value' AS mood FROM nft_token_metadata WHERE token_id = 7`,
      );
      return row?.mood;
    };
    await devnet.send({ ...market.cats, functionName: 'setMood', args: [7n, 'sleepy'] });
    await vi.waitFor(
      async () =>
        expect(await scratch.database.query('SELECT FROM nft_metadata_events WHERE kind = 0')).toHaveLength(1),
      soon,
    );
    expect(await mood()).toBeUndefined();
    expect((await ask(`${market.cats.address}/7/metadata/resync?mode=sync`)).status).toBe(200);
    expect(await mood()).toBe('sleepy');
    await devnet.send({ ...market.cats, functionName: 'setMood', args: [7n, 'awake'] });
    await vi.waitFor(async () => expect(await mood()).toBe('awake'), soon);
    expect((await ask(`${market.cats.address}/999/metadata/resync?mode=sync`)).status).toBe(404);
    expect((await ask(`${market.prints.address}/12/metadata/resync?mode=sync`)).status).toBe(200);
    expect(await scratch.database.query('SELECT metadata FROM nft_token_metadata WHERE token_id = 12')).toEqual([
      { metadata: '{"name":"Gallery Print 12"}' },
    ]);
  });
});
