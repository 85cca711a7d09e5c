/**
 * The official SDK parses rows in which every nullable member is null. Known NFTs are covered by the acceptance tests.
 */

import { createChainRegistry } from '@chainstead/chains';
import { systemClock } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { withWait } from '@chainstead/http';
import { serveApi } from '@chainstead/http/server';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import {
  addressOf,
  createScratchDatabase,
  type Moralis,
  seedBuilt,
  startOfficialSdk,
  storeToken,
} from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCollectionOwnersRoutes } from './owners/owners-routes.ts';
import { seedMoves } from './records/testing/seeded-tokens.ts';
import { metadataRoutes } from './single-nfts/metadata-routes.ts';
import { nftCollectionOwners } from './transfers/collection-owners.ts';
import { nftWalletTokens } from './transfers/wallet-tokens.ts';
import { createWalletCollectionsRoute } from './wallet-collections/wallet-collections-route.ts';
import { cover } from './wallet-nfts/testing/seeded-wallet.ts';
import { createWalletNftsRoute } from './wallet-nfts/wallet-nfts-route.ts';

const [CATS, HOLDER] = [addressOf(0xca75), addressOf(0xa11ce)];
const chain = '0x1';
const parts = new AsyncDisposableStack();
let database: Database;
let url: string;
let nft: Moralis['EvmApi']['nft'];

beforeAll(async () => {
  const eth = createChainRegistry().get('eth');
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  ({ database } = scratch);
  const ofWallet = {
    projections: createSubjectProjections(database),
    onDemandBackfill: { requestWallet: async () => 'unserved' as const },
  };
  const api = await exampleApi(database, [
    createWalletNftsRoute(ofWallet),
    createWalletCollectionsRoute(ofWallet),
    ...createCollectionOwnersRoutes({
      ...ofWallet,
      onDemandBackfill: { requestContract: async () => 'unserved' },
    }),
    withWait({ waitMs: 0 }, metadataRoutes({ onDemand: { perKey: 50 }, clock: systemClock })),
  ]);
  for (const state of [nftWalletTokens, nftCollectionOwners]) await seedBuilt(database, eth.id, state);
  await cover(database, eth, 0, 100);
  await seedMoves(database, eth, [{ token: CATS, id: '4', block: 12, from: addressOf(5), to: HOLDER }]);
  ({ url } = parts.adopt(await serveApi(api, { host: '127.0.0.1', port: 0 }), (one) => one.close()));
  ({ nft } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: url })).Moralis.EvmApi);
});
afterAll(() => parts.disposeAsync());

test.each([
  ['of a wallet', `${HOLDER}/nft`, () => nft.getWalletNFTs({ address: HOLDER, chain })],
  ['of a collection', `nft/${CATS}`, () => nft.getContractNFTs({ address: CATS, chain })],
  ['by their owners', `nft/${CATS}/owners`, () => nft.getNFTOwners({ address: CATS, chain })],
  [
    'by the owners of one',
    `nft/${CATS}/4/owners`,
    () => nft.getNFTTokenIdOwners({ address: CATS, chain, tokenId: '4' }),
  ],
  ['as collections', `${HOLDER}/nft/collections`, () => nft.getWalletNFTCollections({ address: HOLDER, chain })],
] as const)('NFTs of which nothing is known are read: %s', async (_list, path, ask) => {
  const answer = await ask();
  expect(answer.result.map((row) => row.tokenAddress.lowercase)).toEqual([CATS]);
  const response = await fetch(`${url}/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
  expect(answer.toJSON()).toEqual(await response.json());
});

test('so are one by itself and several; null where there is none', async () => {
  // Its events were seen, otherwise it would be read first.
  await storeToken(database, 1, CATS, { seen_as: 2 });
  const answer = await nft.getNFTMetadata({ address: CATS, chain, tokenId: '4' });
  expect(answer?.toJSON()).toMatchObject({ owner_of: HOLDER, name: null, token_uri: null, metadata: null });
  expect(answer?.result.ownerOf?.lowercase).toBe(HOLDER);
  expect(await nft.getNFTMetadata({ address: CATS, chain, tokenId: '77' })).toBeNull();
  const tokens = ['4', '77'].map((tokenId) => ({ tokenAddress: CATS, tokenId }));
  const several = await nft.getMultipleNFTs({ chain, tokens, normalizeMetadata: true });
  expect(several.result.map((row) => row?.ownerOf?.lowercase)).toEqual([HOLDER, undefined]);
});
