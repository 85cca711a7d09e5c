/** What the official SDK makes of operations that are not served, of a chain that is not indexed, and of the server's own facts. */

import { readFileSync } from 'node:fs';
import { createChainRegistry } from '@chainstead/chains';
import { silentLogger, systemClock } from '@chainstead/core';
import { UNSERVED_OPERATIONS } from '@chainstead/http';
import { type ApiServer, serveApi, unservedRoutes } from '@chainstead/http/server';
import { type Moralis, startOfficialSdk } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { createDatasetRoutes } from 'chainstead/src/datasets/index.ts';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);
const address = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const chain = '0x1';
const WALLET = { address, chain };

const scratch = scratchOfFile();
let server: ApiServer;
let sdk: Moralis;
let evmOperations: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  const registry = createChainRegistry();
  const onDemand = { waitMs: 0, maxCalls: 0, perKey: 1 };
  const routes = [
    ...createDatasetRoutes({
      database: scratch.database,
      logger: silentLogger(),
      chains: [],
      onDemand,
      clock: systemClock,
    }),
    unservedRoutes,
  ];
  const indexed = { chains: [registry.get('eth')], datasets: [] };
  const api = await createApiUnderTest(scratch.database, registry, routes, indexed);
  server = await serveApi(api, { host: '127.0.0.1', port: 0 });
  ({ Moralis: sdk, evmOperations } = await startOfficialSdk({ address: server.url, apiKey: TEST_KEY }));
});
afterAll(async () => {
  await server.close();
});

type Call = (parameters: object) => Promise<unknown>;

/** The SDK's method of a name, in whichever of its groups. */
function callOf(api: object, name: string): Call | undefined {
  for (let level: object | null = api; level !== null; level = Object.getPrototypeOf(level))
    for (const key of Object.getOwnPropertyNames(level)) {
      const group: unknown = Reflect.get(api, key);
      const call: unknown = typeof group === 'object' && group !== null ? Reflect.get(group, name) : undefined;
      if (typeof call === 'function') return (parameters) => call.call(group, parameters);
    }
  return undefined;
}

describe('the official SDK', () => {
  test.each([
    ['getDefiPositionsSummary', WALLET],
    ['getTopERC20TokensByMarketCap', {}],
    ['getDefiSummary', WALLET],
    ['getNFTTokenStats', { ...WALLET, tokenId: '1' }],
  ])('rejects %s with an error that names it, instead of an empty answer', async (name, parameters) => {
    const call = callOf(sdk.EvmApi, name);
    expect(call).toBeDefined();
    await expect(call?.(parameters)).rejects.toThrow(new RegExp(`Not Implemented\\(501\\): ${name} \\(`));
  });

  test('has a 501 for every operation of its own that is not served', () => {
    const served = [
      ...['getWalletTokenTransfers', 'getNFTTrades', 'getNFTTradesByToken', 'getNFTSalePrices', 'reSyncMetadata'],
      ...['getNFTContractSalePrices', 'getWalletNFTCollections', 'getNFTContractMetadata', 'syncNFTContract'],
      ...['getWalletTokenBalances', 'getWalletTokenBalancesPrice'],
      ...['getNativeBalance', 'getNativeBalancesForAddresses', 'getTokenMetadata', 'getTokenMetadataBySymbol'],
      ...['getTokenTransfers', 'getTokenStats', 'getTokenAllowance'],
      ...['getWalletNFTTransfers', 'getNFTContractTransfers', 'getNFTTransfers'],
      ...[
        'getTokenOwners',
        'getPairReserves',
        'getPairAddress',
        'getPairPrice',
        'getTokenPrice',
        'getMultipleTokenPrices',
      ],
      ...['getContractLogs', 'getContractEvents'],
      ...['resolveENSDomain', 'resolveAddress', 'resolveDomain', 'resolveAddressToDomain'],
      ...['web3ApiVersion', 'endpointWeights', 'runContractFunction', 'reviewContracts'],
      ...['getWalletNFTs', 'getMultipleNFTs', 'getNFTMetadata'],
      ...['getWalletHistory', 'getWalletActiveChains', 'getWalletStats', 'getWalletNetWorth'],
      ...['getWalletProfitability', 'getWalletProfitabilitySummary', 'getTopProfitableWalletPerToken'],
      ...['getTransaction', 'getTransactionVerbose', 'getBlock', 'getBlockStats', 'getDateToBlock'],
      ...['getInternalTransactions', 'getWalletTransactions', 'getWalletTransactionsVerbose'],
      ...['getContractNFTs', 'getNFTOwners', 'getNFTTokenIdOwners', 'getNFTCollectionStats'],
    ];
    const own = [...evmOperations.keys()];
    expect(own.length).toBeGreaterThan(60);
    const known = new Set(
      [...served, ...UNSERVED_OPERATIONS.map(({ name }) => name)].map((name) => name.toLowerCase()),
    );
    expect(own.filter((name) => !known.has(name.toLowerCase()))).toEqual([]);
    const unserved = new Set(UNSERVED_OPERATIONS.map(({ name }) => name.toLowerCase()));
    const count = own.filter((name) => !unserved.has(name.toLowerCase())).length;
    for (const page of ['README.md', 'docs/migrate/sdk.md'])
      expect(readFileSync(new URL(page, ROOT), 'utf8')).toContain(`${count} of its ${own.length} EVM methods`);
  });

  test('rejects what is asked of a chain that is not indexed here, with the key to set', async () => {
    const message = /400\): Chain polygon is not indexed here: add it to CHAINS \(CHAINS=polygon,…\) and restart/;
    const wallet = { address, chain: '0x89' };
    for (const [name, parameters] of [
      ['getWalletTokenTransfers', wallet],
      ['getWalletNFTCollections', wallet],
      ['getNFTContractMetadata', wallet],
      ['getNFTTrades', wallet],
      ['getNFTSalePrices', { ...wallet, tokenId: '1' }],
      ['getWalletNFTs', wallet],
      ['getNFTMetadata', { ...wallet, tokenId: '1' }],
    ] as const)
      await expect(callOf(sdk.EvmApi, name)?.(parameters)).rejects.toThrow(message);
  });

  test('reads the version and the operations that are served', async () => {
    const { utils } = sdk.EvmApi;
    expect((await utils.web3ApiVersion()).toJSON()).toEqual({ version: '0.0.0' });
    const weights = (await utils.endpointWeights()).result.map((weight) => weight.toJSON());
    expect(weights).toContainEqual({
      endpoint: 'getWalletTokenTransfers',
      path: '/{address}/erc20/transfers',
      rateLimitCost: 50,
      price: 0,
    });
    const unserved = new Set(UNSERVED_OPERATIONS.map(({ name }) => name));
    expect(weights.filter(({ endpoint }) => unserved.has(endpoint))).toEqual([]);
  });
});
