/** Values that examples send: those of the demo, whose addresses and ids are the same in each run. */
import type { DemoChain } from '../../apps/chainstead/src/demo/demo-chain.ts';
import { createDemoLedger } from '../../apps/chainstead/src/demo/demo-coins.ts';
import type { DemoStream } from '../../apps/chainstead/src/demo/demo-stream.ts';
import { DEMO_TOKEN_ABI } from '../../apps/chainstead/src/demo/devnet/compile-solidity.ts';
import type { ExpectedTrade } from '../../apps/chainstead/src/demo/market/market-stall.ts';

export interface DemoParts {
  readonly chain: DemoChain;
  /** The first sale. */
  readonly sale: ExpectedTrade;
  readonly stream: DemoStream;
  /** The block of the stream's first webhook, which has a transfer. */
  readonly webhookBlock: number;
  /** A receiver that responds. */
  readonly webhookUrl: string;
}

/** Parameters of path and query. */
export interface Example {
  readonly body?: unknown;
  readonly [parameter: string]: unknown;
}

/** Operations without an example, with the reason. */
export const WITHOUT_EXAMPLE: Readonly<Record<string, string>> = {
  getNFTFloorPriceByContract: 'always 404: listings are not on the chain',
  getNFTHistoricalFloorPriceByContract: 'always 404: listings are not on the chain',
  getNFTFloorPriceByToken: 'always 404: listings are not on the chain',
  getWalletVaults: 'the demo has no vault',
  resolveENSDomain: 'the demo has no Ethereum',
  resolveDomain: 'the demo has no Ethereum',
  resolveAddress: 'the demo has no Ethereum',
  resolveAddressToDomain: 'the demo has no Ethereum',
  resyncNFTRarity: 'always refused: the traits were read less than 30 minutes ago',
  ReplayHistory: 'no webhook of the demo fails',
  'POST /historical-jobs/create-job': 'the same as POST /historicalJobs/createJob',
  'getOwnContractEvents-market-order_fulfilled': 'the same as getOwnContractEvents',
  'GET /metrics': 'text, described in docs/reference/metrics.md',
};

const CHAIN_ID = '0x7a69';
const NATIVE = `0x${'ee'.repeat(20)}`;
const ALL_DATES = { fromDate: '2020-01-01', toDate: '2100-01-01' };

/** Values of parameters by their names, for operations that require them. */
export function requiredValues(path: string, { chain, sale, stream }: DemoParts): Example {
  const [wallet, other] = chain.wallets;
  const [dollar, ether] = chain.tokens;
  const pool = chain.exchanges.pools[0]?.pool;
  const { traded, holders } = createDemoLedger();
  const subjects = [
    [/\/erc20\/\{|\/(?:logs|events|function)$/, dollar],
    [/\/nft\/\{/, sale.token],
    [/\/pairs\/\{/, pool],
    [/./, wallet],
  ] as const;
  return {
    ...{ chain: 'devnet', chainId: CHAIN_ID, apiKey: 'any-key', id: stream.id, streamId: stream.id },
    ...{ address: subjects.find(([pattern]) => pattern.test(path))?.[1], addresses: dollar, symbols: 'DUSD' },
    ...{ wallet_addresses: [wallet, other].join(), token_address: ether, tokenAddress: ether },
    ...{ pair_address: pool, token0_address: ether, token1_address: dollar, exchange: 'uniswapv2' },
    ...{ token_id: sale.tokenIds[0], transaction_hash: sale.transactionHash, query: 'demo' },
    ...{ block_number_or_hash: sale.blockNumber, blockNumber: sale.blockNumber, block_heights: '1' },
    ...{ name: 'market', event: 'order_fulfilled', function_name: 'balanceOf' },
    ...{ owner_addresses: holders[0]?.[0], creator_addresses: holders[0]?.[0], coin_type: traded.type },
    ...{ coin_type_hash: traded.hash, coin_type_hashes: traded.hash },
  };
}

/** Other values and bodies, by operation id, or method and path. */
export function readingExamples({ chain, sale }: DemoParts): Readonly<Record<string, Example>> {
  const { tokens, market, exchanges } = chain;
  const [dollar, ether] = tokens;
  const [trader] = exchanges.traders;
  const sold = { token_address: sale.token, token_id: sale.tokenIds[0] };
  const analyzed = { body: { tokens: [{ chain: 'devnet', tokenAddress: ether }] } };
  const [transfer] = DEMO_TOKEN_ABI.filter((item) => item.type === 'event' && item.name === 'Transfer');
  const outputs = [{ name: '', type: 'uint256' }];
  const balanceOf = { inputs: [{ name: 'account', type: 'address' }], outputs, stateMutability: 'view' };
  return {
    getWalletNetWorth: { address: trader },
    getWalletNFTCollections: { token_counts: true },
    getSwapsByWalletAddress: { address: trader },
    getWalletProfitability: { address: exchanges.gainer },
    getWalletProfitabilitySummary: { address: exchanges.gainer },
    getPairCandlesticks: { timeframe: '1min', ...ALL_DATES },
    getSwapsByTokenAddress: { address: ether },
    getTimeSeriesTokenAnalytics: { timeframe: '1d', ...analyzed },
    getMultipleTokenAnalytics: analyzed,
    getTopProfitableWalletPerToken: { address: ether },
    getTokenPrice: { address: ether },
    getMultipleTokenPrices: { body: { tokens: [{ token_address: ether }, { token_address: NATIVE }] } },
    getHistoricalTokenHolders: { tokenAddress: dollar, timeFrame: '1h', ...ALL_DATES },
    getTokenAllowance: {
      ...{ address: market.wrappedEther.address, owner_address: market.traders[0] },
      spender_address: market.seaport.address,
    },
    getNFTByContractTraits: { body: { traits: { Mood: 'calm' } } },
    getNFTBulkContractMetadata: { body: { addresses: [sale.token, market.prints.address] } },
    getMultipleNFTs: { body: { tokens: [sold] } },
    getDateToBlock: { date: new Date(sale.blockTimestamp * 1_000).toISOString() },
    runContractFunction: {
      body: {
        abi: [{ type: 'function', name: 'balanceOf', ...balanceOf }],
        params: { account: chain.wallets[0] },
      },
    },
    getContractEvents: { body: transfer },
    getCoinsBySymbolRange: { from_symbol: 'DEMO1', to_symbol: 'DEMO2' },
    getCoinsByNameRange: { from_name: 'Demo coin 1', to_name: 'Demo coin 2' },
    'POST /{chain}/{apiKey}': {
      body: { jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [chain.wallets[0], 'latest'] },
    },
  };
}

/** Operations that change something, in their order. */
export function changingExamples(parts: DemoParts): Readonly<Record<string, Example>> {
  const [dollar, , point] = parts.chain.tokens;
  const [, other, third] = parts.chain.wallets;
  const review = { contract_address: point, reason: 'Sent to me without a request' };
  const abi = DEMO_TOKEN_ABI.filter((item) => item.type === 'event' && item.name === 'Transfer');
  const watched = { topic0: ['Transfer(address,address,uint256)'], abi, includeContractLogs: true };
  const described = { description: 'Transfers of a token', tag: 'transfers', chainIds: [CHAIN_ID] };
  return {
    syncNFTContract: {},
    reSyncMetadata: {},
    reviewContracts: { body: { contracts: [{ ...review, report_type: 'spam', contract_type: 'ERC20' }] } },
    CreateStream: { body: { webhookUrl: parts.webhookUrl, ...described, ...watched } },
    UpdateStream: { body: { description: 'Transfers of a wallet', tag: 'wallet' } },
    AddAddressToStream: { body: { address: [other, third] } },
    DeleteAddressFromStream: { body: { address: third } },
    ReplaceAddressFromStream: { body: { address: [dollar] } },
    DuplicateStream: {},
    GetStreamBlockDataByNumber: { blockNumber: parts.webhookBlock, body: { ...watched, allAddresses: true } },
    GetStreamBlockDataToWebhookByNumber: { blockNumber: parts.webhookBlock },
    'POST /historicalJobs/createJob': { body: pastBlocks(parts) },
    UpdateStreamStatus: { body: { status: 'paused' } },
    SetSettings: { body: { region: 'eu-central-1' } },
    DeleteStream: {},
  };
}

/** The body that replays the demo's stream up to the first sale. */
export function pastBlocks({ stream, sale }: Pick<DemoParts, 'stream' | 'sale'>) {
  return { chainId: CHAIN_ID, streamId: stream.id, blockFrom: 1, blockTo: sale.blockNumber };
}
