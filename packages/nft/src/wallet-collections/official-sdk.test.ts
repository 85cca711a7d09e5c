import { createChainRegistry } from '@chainstead/chains';
import { addressBytes } from '@chainstead/db';
import { type ApiServer, serveApi } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { createKeptSubjects } from '@chainstead/sync';
import { createScratchDatabase, type Moralis, type ScratchDatabase, startOfficialSdk } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contractOf, seedHoldings, seedNftCoverage, seedRow } from './testing/seeded-holdings.ts';
import { createWalletCollectionsRoute } from './wallet-collections-route.ts';

const eth = createChainRegistry().get('eth');
const WALLET = contractOf(0xa11ce);
const CONTRACTS = Array.from({ length: 12 }, (_, index) => contractOf(100 + index));

let scratch: ScratchDatabase;
let server: ApiServer;
let EvmApi: Moralis['EvmApi'];

beforeAll(async () => {
  scratch = await createScratchDatabase();
  const route = createWalletCollectionsRoute({
    kept: createKeptSubjects(scratch.database),
    walletHistory: { requestWallet: async () => 'unserved' },
    waitMs: 5_000,
  });
  server = await serveApi(await exampleApi(scratch.database, [route]), { host: '127.0.0.1', port: 0 });
  await seedNftCoverage(scratch.database, eth, 0, 100);
  await seedHoldings(
    scratch.database,
    eth,
    WALLET,
    CONTRACTS.map((contract, index) => ({ contract, ids: index + 1 })),
  );
  for (const [index, contract] of CONTRACTS.entries())
    await seedRow(scratch.database, 'tokens', {
      address: addressBytes(contract),
      chain_id: eth.id,
      seen_as: index % 2 === 0 ? 2 : 4,
      name: index === 0 ? null : `Collection ${index}`,
      symbol: index === 0 ? null : 'SYM',
      possible_spam: index === 5,
    });
  ({ EvmApi } = (await startOfficialSdk({ apiKey: EXAMPLE_KEY, address: server.url })).Moralis);
});
afterAll(async () => {
  await server.close();
  await scratch.drop();
});

describe('the official SDK', () => {
  test('reads pages to the end', async () => {
    let page = await EvmApi.nft.getWalletNFTCollections({ address: WALLET, chain: '0x1', limit: 5 });
    const seen: (string | undefined)[] = [];
    for (;;) {
      seen.push(...page.result.map(({ tokenAddress }) => tokenAddress.lowercase));
      if (!page.hasNext()) break;
      page = await page.next();
    }
    expect(seen).toEqual(CONTRACTS);
  });

  test('reads the rows, names that are not known yet among them, and the status', async () => {
    const { result, raw } = await EvmApi.nft.getWalletNFTCollections({
      address: WALLET,
      chain: '0x1',
      limit: 2,
    });
    expect(raw).toMatchObject({ status: 'SYNCED', page: 1, page_size: 2 });
    expect(result.map((row) => row.toJSON())).toMatchObject([
      { tokenAddress: CONTRACTS[0], contractType: 'ERC721' },
      { tokenAddress: CONTRACTS[1], contractType: 'ERC1155', name: 'Collection 1', symbol: 'SYM', possibleSpam: false },
    ]);
  });

  test('sends the flags as this server reads them', async () => {
    const options = { address: WALLET, chain: '0x1', tokenCounts: true, excludeSpam: true };
    const { raw } = await EvmApi.nft.getWalletNFTCollections(options);
    expect(raw.result?.length).toBe(CONTRACTS.length - 1);
    expect(raw.result?.map((row) => Object(row).count).slice(0, 3)).toEqual([1, 2, 3]);
  });
});
