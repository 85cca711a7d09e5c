import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eth, type NftTransfersStage, openNftTransfersStage } from './testing/nft-transfers-stage.ts';
import { ALICE, APES, BOB, CARDS, movesIn, seedMoves } from './testing/seeded-moves.ts';

let stage: NftTransfersStage;
let server: ApiServer;
let nft: Moralis['EvmApi']['nft'];

beforeAll(async () => {
  stage = await openNftTransfersStage();
  server = await serveApi(stage.api, { host: '127.0.0.1', port: 0 });
  await seedMoves(stage.database, eth, [...movesIn(1, 9), ...movesIn(10, 12, { token: CARDS })]);
  await stage.cover(0, 20);
  nft = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis.EvmApi.nft;
});
afterAll(async () => {
  await server.close();
  await stage.close();
});

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index));

/** What all three lists have of the SDK's pages. */
interface SdkPage {
  readonly result: readonly { readonly blockNumber: { toString(): string } }[];
  hasNext(): boolean;
  next(): Promise<SdkPage>;
}

async function blocksOf(first: SdkPage): Promise<string[]> {
  const blocks: string[] = [];
  for (let page = first; ; page = await page.next()) {
    blocks.push(...page.result.map((row) => row.blockNumber.toString()));
    if (!page.hasNext()) return blocks;
  }
}

describe('the official SDK', () => {
  test('reads all pages of a wallet, a collection and a token, with everything null that can be', async () => {
    const common = { chain: '0x1', limit: 2, order: 'ASC' } as const;
    expect(await blocksOf(await nft.getWalletNFTTransfers({ ...common, address: ALICE }))).toEqual(numbers(1, 12));
    expect(await blocksOf(await nft.getNFTContractTransfers({ ...common, address: APES }))).toEqual(numbers(1, 9));
    expect(await blocksOf(await nft.getNFTTransfers({ ...common, address: CARDS, tokenId: '7' }))).toEqual(
      numbers(10, 12),
    );
  });

  test('filters and bounds a wallet', async () => {
    const cards = await nft.getWalletNFTTransfers({
      chain: '0x1',
      address: ALICE,
      contractAddresses: [CARDS],
      order: 'ASC',
    });
    expect(await blocksOf(cards)).toEqual(numbers(10, 12));
    const bounded = await nft.getWalletNFTTransfers({
      chain: '0x1',
      address: ALICE,
      fromBlock: 3,
      toBlock: '5',
      order: 'ASC',
    });
    expect(await blocksOf(bounded)).toEqual(numbers(3, 5));
  });

  test('deserialises the rows, and gives the answer as it came', async () => {
    const page = await nft.getWalletNFTTransfers({ chain: '0x1', address: ALICE, limit: 1, format: 'hex' });
    expect(page.result[0]?.toJSON()).toMatchObject({
      tokenAddress: CARDS,
      tokenId: '0x7',
      fromAddress: ALICE,
      toAddress: BOB,
      amount: 1,
      blockNumber: '12',
    });
    const { result, indexed } = await stage.get(`/${ALICE}/nft/transfers?limit=1&format=hex`);
    expect(page.toJSON()).toMatchObject({ page: 0, result, indexed, block_exists: true, index_complete: true });
  });
});
