import { ZERO_ADDRESS } from '@chainstead/core';
import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { account, ERC721, ERC1155, type Move } from '../transfers/testing/example-moves.ts';
import { type ListAnswer, type OwnersStage, openOwnersStage } from './testing/owners-stage.ts';

let stage: OwnersStage;
let server: ApiServer;
let EvmApi: Moralis['EvmApi'];

const IDS = Array.from({ length: 12 }, (_, id) => id);
const mint = (id: number, to: number, amount = 1n, token = ERC721): Move => ({
  token,
  id: BigInt(id),
  from: ZERO_ADDRESS,
  to: account(to),
  amount,
});

beforeAll(async () => {
  stage = await openOwnersStage();
  await stage.cover(0, 100);
  for (const id of IDS) await stage.add(id + 1, [mint(id, id % 3)]);
  await stage.add(50, [mint(1, 1, 70n, ERC1155), mint(1, 2, 30n, ERC1155)]);
  await stage.seen(ERC1155, 'erc1155');
  server = await serveApi(stage.api, { host: '127.0.0.1', port: 0 });
  ({ EvmApi } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis);
});
afterAll(async () => {
  await server.close();
  await stage.close();
});

const chain = '0x1';
const resultOf = (raw: unknown): ListAnswer['result'] => Object(raw).result;

describe('the official SDK', () => {
  test('reads the NFTs of a collection to the end, with nearly all of their fields null', async () => {
    let page = await EvmApi.nft.getContractNFTs({ address: ERC721, chain, limit: 5 });
    const seen: string[] = [];
    for (;;) {
      seen.push(...page.result.map(({ tokenId }) => String(tokenId)));
      if (!page.hasNext()) break;
      page = await page.next();
    }
    expect(seen.toSorted((a, b) => Number(a) - Number(b))).toEqual(IDS.map(String));
  });

  test('has the answer as it was sent', async () => {
    const nfts = await EvmApi.nft.getContractNFTs({ address: ERC721, chain, limit: 100 });
    expect(nfts.toJSON()).toEqual(await stage.get(`${ERC721}?limit=100`));
    const owners = await EvmApi.nft.getNFTOwners({ address: ERC721, chain, limit: 100 });
    expect(owners.toJSON()).toEqual(await stage.get(`${ERC721}/owners?limit=100`));
    const ofToken = await EvmApi.nft.getNFTTokenIdOwners({ address: ERC721, chain, tokenId: '3' });
    expect(ofToken.toJSON()).toEqual(await stage.get(`${ERC721}/3/owners`));
    const stats = await EvmApi.nft.getNFTCollectionStats({ address: ERC721, chain });
    expect(stats.toJSON()).toEqual(await stage.get(`${ERC721}/stats`));
  });

  test('sends parts, formats and flags as this server reads them', async () => {
    const parts: ListAnswer['result'][number][] = [];
    for (const range of [1, 2]) {
      const options = {
        address: ERC721,
        chain,
        format: 'decimal' as const,
        totalRanges: 2,
        range,
        normalizeMetadata: true,
      };
      let page = await EvmApi.nft.getContractNFTs({ ...options, mediaItems: true, limit: 3 });
      for (;;) {
        parts.push(...resultOf(page.raw));
        if (!page.hasNext()) break;
        page = await page.next();
      }
    }
    expect(parts.map(({ token_id }) => Number(token_id)).toSorted((a, b) => a - b)).toEqual(IDS);
    for (const row of parts) expect(row).toMatchObject({ media: null, normalized_metadata: { attributes: [] } });
  });

  test('reads owners, of a collection and of one id', async () => {
    const ofCollection = await EvmApi.nft.getNFTOwners({ address: ERC721, chain, limit: 2 });
    expect(ofCollection.raw).toMatchObject({ status: 'SYNCED', page: 1, page_size: 2 });
    expect(ofCollection.result.map(({ tokenId, ownerOf }) => [String(tokenId), ownerOf?.lowercase])).toEqual([
      ['11', account(2)],
      ['10', account(1)],
    ]);
    const next = await ofCollection.next();
    expect(next.result.map(({ tokenId }) => String(tokenId))).toEqual(['9', '8']);
    const ofToken = await EvmApi.nft.getNFTTokenIdOwners({ address: ERC1155, chain, tokenId: '1' });
    expect(ofToken.result.map(({ ownerOf, amount }) => [ownerOf?.lowercase, amount])).toEqual([
      [account(2), 30],
      [account(1), 70],
    ]);
  });

  test('reads an ERC-1155 whose owner is nobody', async () => {
    const { result } = await EvmApi.nft.getContractNFTs({ address: ERC1155, chain });
    expect(result.map(({ tokenId, amount }) => [String(tokenId), amount])).toEqual([['1', 100]]);
  });

  test('reads the statistics, and empty answers', async () => {
    const { result } = await EvmApi.nft.getNFTCollectionStats({ address: ERC721, chain });
    expect(result.toJSON()).toMatchObject({ owners: { current: '3' }, transfers: { total: '12' } });
    const other = account(0xfff);
    expect((await EvmApi.nft.getContractNFTs({ address: other, chain })).result).toEqual([]);
    expect((await EvmApi.nft.getNFTOwners({ address: other, chain })).result).toEqual([]);
    expect((await EvmApi.nft.getNFTTokenIdOwners({ address: other, chain, tokenId: '1' })).result).toEqual([]);
  });
});
