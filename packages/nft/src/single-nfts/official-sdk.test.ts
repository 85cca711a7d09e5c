import { createChainRegistry } from '@chainstead/chains';
import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createJobs } from '@chainstead/jobs';
import { createKeptSubjects } from '@chainstead/sync';
import {
  addressOf,
  createScratchDatabase,
  type Moralis,
  type ScratchDatabase,
  startOfficialSdk,
} from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seedMetadata, seedMoves } from '../records/testing/seeded-tokens.ts';
import { cover, seedWallet } from '../wallet-nfts/testing/seeded-wallet.ts';
import { createWalletNftsRoute } from '../wallet-nfts/wallet-nfts-route.ts';
import { metadataRoutes } from './metadata-routes.ts';

const eth = createChainRegistry().get('eth');
// One of which everything is known, and one of which nothing is.
const [CATS, UNKNOWN, WALLET] = [addressOf(0xca75), addressOf(0x0b5c), addressOf(0xa11ce)];
const CHECKSUM = '0xBC4CA0EdA7647A8aB7C2061c2E118A18a936f13D';
const TEXT = '{"name":"One"}';

let scratch: ScratchDatabase;
let server: ApiServer;
let closeJobs: () => Promise<void>;
let EvmApi: Moralis['EvmApi'];

beforeAll(async () => {
  scratch = await createScratchDatabase();
  const { database } = scratch;
  const jobs = await createJobs({ databaseUrl: scratch.url, logger: silentLogger(), metrics: createMetricsRegistry() });
  closeJobs = () => jobs.close();
  const routes = [
    createWalletNftsRoute({
      kept: createKeptSubjects(database),
      walletHistory: { requestWallet: async () => 'unserved' },
      waitMs: 5_000,
    }),
    ...metadataRoutes({ jobs, onDemand: { waitMs: 0, perKey: 50 }, clock: systemClock }),
  ];
  server = await serveApi(await exampleApi(database, routes), { host: '127.0.0.1', port: 0 });
  await cover(database, eth, 0, 200);
  for (const [address, name] of [
    [CATS, 'Cats'],
    [UNKNOWN, null],
  ] as const)
    await database.query('INSERT INTO tokens (address, chain_id, seen_as, name) VALUES ($1, 1, 2, $2)', [
      addressBytes(address),
      name,
    ]);
  await seedMoves(database, eth, [
    { token: CATS, id: '1', block: 10, to: WALLET },
    { token: UNKNOWN, id: '2', block: 12, from: addressOf(5), to: WALLET },
  ]);
  await seedMetadata(database, eth, { address: CATS, id: '1' }, { uri: 'ipfs://x', text: TEXT });
  await seedWallet(database, eth, WALLET, [
    { token: CATS, id: '1', block: 10 },
    { token: UNKNOWN, id: '2', block: 12 },
    ...Array.from({ length: 7 }, (_, index) => ({ token: CATS, id: String(100 + index), block: 1 + index })),
  ]);
  ({ EvmApi } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis);
});
afterAll(async () => {
  await server.close();
  await closeJobs();
  await scratch.drop();
});

const chain = '0x1';

/** What a plain client gets. */
async function bodyOf(path: string): Promise<unknown> {
  return (await fetch(`${server.url}/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } })).json();
}

describe('the official SDK', () => {
  test('reads a wallet’s NFTs page by page, those of which nothing is known too', async () => {
    for (const limit of [1, 2, 100]) {
      let page = await EvmApi.nft.getWalletNFTs({ address: WALLET, chain, limit });
      const seen: string[] = [];
      for (;;) {
        expect(Object(page.toJSON()).result).toHaveLength(page.result.length);
        for (const row of page.result) expect(row.toJSON()).toMatchObject({ tokenId: String(row.tokenId) });
        seen.push(...page.result.map(({ tokenId }) => String(tokenId)));
        if (!page.hasNext()) break;
        page = await page.next();
      }
      expect(seen).toEqual(['2', '1', '106', '105', '104', '103', '102', '101', '100']);
    }
  });

  test('reads what it knows of a record', async () => {
    const { result, raw } = await EvmApi.nft.getWalletNFTs({
      address: WALLET,
      chain,
      format: 'decimal',
      tokenAddresses: [CATS],
      normalizeMetadata: true,
      mediaItems: true,
      excludeSpam: true,
      limit: 1,
    });
    expect(raw).toMatchObject({ status: 'SYNCED', page: 1, page_size: 1 });
    expect(raw.result?.[0]).toMatchObject({ normalized_metadata: { name: 'One' }, media: null });
    const [row] = result;
    expect([row?.tokenAddress.lowercase, row?.name, row?.contractType, row?.amount]).toEqual([
      CATS,
      'Cats',
      'ERC721',
      1,
    ]);
    expect([row?.ownerOf?.lowercase, row?.metadata, row?.tokenUri]).toEqual([WALLET, { name: 'One' }, 'ipfs://x']);
    expect(row?.lastMetadataSync).toEqual(new Date('2024-01-02T03:04:05.678Z'));
  });

  test('reads one NFT, and null for none', async () => {
    for (const [address, tokenId] of [
      [CATS, '1'],
      [UNKNOWN, '2'],
    ] as const) {
      const answer = await EvmApi.nft.getNFTMetadata({ address, chain, tokenId, format: 'decimal', mediaItems: true });
      expect([answer?.result.tokenAddress.lowercase, String(answer?.result.tokenId)]).toEqual([address, tokenId]);
      const body = await bodyOf(`nft/${address}/${tokenId}?media_items=true`);
      expect(answer?.toJSON()).toEqual(body);
      expect(answer?.result.toJSON()).toMatchObject({ tokenId });
    }
    expect(await EvmApi.nft.getNFTMetadata({ address: UNKNOWN, chain, tokenId: '77' })).toBeNull();
    expect(await EvmApi.nft.getNFTMetadata({ address: CHECKSUM, chain, tokenId: '1' })).toBeNull();
  });

  test('reads several NFTs, null among them', async () => {
    const answer = await EvmApi.nft.getMultipleNFTs({
      chain,
      tokens: [
        { tokenAddress: UNKNOWN, tokenId: '2' },
        { tokenAddress: CATS, tokenId: '77' },
        { tokenAddress: CATS, tokenId: '1' },
      ],
      normalizeMetadata: true,
      mediaItems: true,
    });
    expect(answer.result.map((row) => row?.tokenAddress.lowercase ?? null)).toEqual([UNKNOWN, null, CATS]);
    expect(answer.result.map((row) => row?.toJSON().tokenId)).toEqual(['2', undefined, '1']);
    expect(answer.toJSON()).toMatchObject([{ owner_of: WALLET, metadata: null }, null, { metadata: TEXT }]);
  });
});
