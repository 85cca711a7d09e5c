/** One request for each operation that the demo can show: values of the demo, whose addresses are the same in each run. */
import type { DemoChain } from '../../apps/chainstead/src/demo/demo-chain.ts';
import { createDemoLedger } from '../../apps/chainstead/src/demo/demo-ledger.ts';
import type { DemoStream } from '../../apps/chainstead/src/demo/demo-stream.ts';
import { DEMO_TOKEN_ABI } from '../../apps/chainstead/src/demo/devnet/demo-contracts.ts';
import type { ExpectedTrade } from '../../apps/chainstead/src/demo/market/market-stall.ts';

/** Parameters of path and query, without the chain and the limit. */
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
  getInternalTransactions: 'the node of the demo has no calls inside the transaction',
  resolveENSDomain: 'the demo has no Ethereum',
  resolveDomain: 'the demo has no Ethereum',
  resolveAddress: 'the demo has no Ethereum',
  resolveAddressToDomain: 'the demo has no Ethereum',
  ReplayHistory: 'no webhook of the demo fails',
  'POST /historical-jobs/create-job': 'the same as POST /historicalJobs/createJob',
  'GET /metrics': 'text, described in docs/reference/metrics.md',
};

const NATIVE = `0x${'ee'.repeat(20)}`;
const ALL_DATES = { fromDate: '2020-01-01', toDate: '2100-01-01' };
const CHAIN_ID = '0x7a69';

interface DemoParts {
  readonly chain: DemoChain;
  /** The first sale. */
  readonly sale: ExpectedTrade;
  readonly stream: DemoStream;
  /** Of a receiver that responds. */
  readonly webhookUrl: string;
}

/** Operations that only read, by their names: operation ids, or method and path. */
export function readingExamples({ chain, sale, stream }: DemoParts): Readonly<Record<string, Example>> {
  return {
    ...ofWallets(chain),
    ...ofTokens(chain),
    ...ofNfts(chain, sale),
    ...ofBlocks(chain, sale),
    ...ofAptos(),
    ...ofStreams(stream),
    ...OF_SERVER,
  };
}

/** Operations that change something, in their order. */
export function changingExamples({
  chain,
  sale,
  stream: { id },
  webhookUrl,
}: DemoParts): Readonly<Record<string, Example>> {
  const { tokens, wallets, market } = chain;
  const one = { address: market.cats.address, token_id: sale.tokenIds[0] };
  const review = { contract_address: tokens[2], reason: 'Sent to me without a request' };
  const [dollar] = tokens;
  const [, other, third] = wallets;
  const block = { chainId: CHAIN_ID, blockNumber: sale.blockNumber };
  const config = {
    ...{ webhookUrl, description: 'Transfers of a token', tag: 'transfers' },
    ...{ chainIds: [CHAIN_ID], includeContractLogs: true, topic0: ['Transfer(address,address,uint256)'] },
  };
  return {
    syncNFTContract: { address: one.address },
    reSyncMetadata: one,
    resyncNFTRarity: { address: one.address },
    reviewContracts: { body: { contracts: [{ ...review, report_type: 'spam', contract_type: 'ERC20' }] } },
    CreateStream: { body: config },
    UpdateStream: { id, body: { description: 'Transfers of a wallet', tag: 'wallet' } },
    AddAddressToStream: { id, body: { address: [other, third] } },
    DeleteAddressFromStream: { id, body: { address: third } },
    ReplaceAddressFromStream: { id, body: { address: [dollar] } },
    DuplicateStream: { id },
    GetStreamBlockDataByNumber: { ...block, body: { includeNativeTxs: true, allAddresses: true } },
    GetStreamBlockDataToWebhookByNumber: { ...block, streamId: id },
    'POST /historicalJobs/createJob': {
      body: { chainId: CHAIN_ID, streamId: id, blockFrom: 1, blockTo: sale.blockNumber },
    },
    UpdateStreamStatus: { id, body: { status: 'paused' } },
    SetSettings: { body: { region: 'eu-central-1' } },
    DeleteStream: { id },
  };
}

function ofWallets({ wallets, market, exchanges }: DemoChain): Record<string, Example> {
  const [address, other] = wallets;
  const [trader] = exchanges.traders;
  return {
    getWalletTokenTransfers: { address },
    getWalletTokenBalances: { address },
    getWalletTokenBalancesPrice: { address },
    getWalletNetWorth: { address: trader },
    getWalletNFTCollections: { address, token_counts: true },
    getWalletNFTs: { address },
    getSwapsByWalletAddress: { address: trader },
    getWalletProfitability: { address: exchanges.gainer },
    getWalletProfitabilitySummary: { address: exchanges.gainer },
    getWalletApprovals: { address: market.traders[0] },
    getNativeBalance: { address },
    getNativeBalancesForAddresses: { wallet_addresses: [address, other].join() },
    getWalletTransactions: { address },
    getWalletTransactionsVerbose: { address },
    getWalletHistory: { address },
    getWalletActiveChains: { address },
    getWalletInsight: { address },
    getWalletStats: { address },
  };
}

function ofTokens({ tokens, market, exchanges }: DemoChain): Record<string, Example> {
  const [dollar, ether] = tokens;
  const pool = exchanges.pools[0]?.pool;
  const analyzed = { body: { tokens: [{ chain: 'devnet', tokenAddress: ether }] } };
  return {
    getTokenTransfers: { address: dollar },
    getTokenStats: { address: dollar },
    getSwapsByPairAddress: { address: pool },
    getPairCandlesticks: { address: pool, timeframe: '1min', ...ALL_DATES },
    getSwapsByTokenAddress: { address: ether },
    getPairReserves: { pair_address: pool },
    getPairAddress: { token0_address: dollar, token1_address: ether, exchange: 'uniswapv2' },
    getPairStats: { address: pool },
    getTokenPairs: { token_address: ether },
    getAggregatedTokenPairStats: { token_address: ether },
    searchTokens: { query: 'demo' },
    getTimeSeriesTokenAnalytics: { timeframe: '1d', ...analyzed },
    getTokenAnalytics: { tokenAddress: ether },
    getMultipleTokenAnalytics: analyzed,
    getTopProfitableWalletPerToken: { address: ether },
    getTokenPrice: { address: ether },
    getMultipleTokenPrices: { body: { tokens: [{ token_address: ether }, { token_address: NATIVE }] } },
    getPairPrice: { token0_address: ether, token1_address: dollar },
    getTokenOwners: { token_address: dollar },
    getTokenHolders: { tokenAddress: dollar },
    getHistoricalTokenHolders: { tokenAddress: dollar, timeFrame: '1h', ...ALL_DATES },
    getTokenMetadata: { addresses: dollar },
    getTokenMetadataBySymbol: { symbols: 'DUSD' },
    getTokenAllowance: {
      address: market.wrappedEther.address,
      owner_address: market.traders[0],
      spender_address: market.seaport.address,
    },
  };
}

function ofNfts({ wallets, market }: DemoChain, { tokenIds }: ExpectedTrade): Record<string, Example> {
  const [wallet] = wallets;
  const { address } = market.cats;
  const one = { address, token_id: tokenIds[0] };
  const month = { days: 30 };
  return {
    getWalletNFTTransfers: { address: wallet },
    getNFTContractTransfers: { address },
    getNFTTransfers: one,
    getNFTTraitsByCollection: { address },
    getNFTTraitsByCollectionPaginate: { address },
    getNFTByContractTraits: { address, body: { traits: { Mood: 'calm' } } },
    getContractNFTs: { address },
    getNFTOwners: { address },
    getNFTTokenIdOwners: one,
    getUniqueOwnersByCollection: { address },
    getNFTCollectionStats: { address },
    getNFTContractMetadata: { address },
    getNFTBulkContractMetadata: { body: { addresses: [address, market.prints.address] } },
    getMultipleNFTs: { body: { tokens: [{ token_address: address, token_id: tokenIds[0] }] } },
    getNFTMetadata: one,
    getNFTTradesByToken: one,
    getNFTTrades: { address },
    getNFTTradesByWallet: { address: wallet },
    getNFTSalePrices: { ...one, ...month },
    getNFTContractSalePrices: { address, ...month },
  };
}

function ofBlocks({ wallets, tokens }: DemoChain, sale: ExpectedTrade): Record<string, Example> {
  const [account] = wallets;
  const [address] = tokens;
  const transaction = { transaction_hash: sale.transactionHash };
  const block = { block_number_or_hash: sale.blockNumber };
  const balanceOf = DEMO_TOKEN_ABI.filter((item) => item.type === 'function' && item.name === 'balanceOf');
  const [transfer] = DEMO_TOKEN_ABI.filter((item) => item.type === 'event' && item.name === 'Transfer');
  return {
    getLatestBlockNumber: { chain: 'devnet' },
    getTransaction: transaction,
    getTransactionVerbose: transaction,
    getBlock: block,
    getBlockStats: block,
    getDateToBlock: { date: new Date(sale.blockTimestamp * 1_000).toISOString() },
    getOwnContracts: {},
    getOwnContractEvents: { name: 'market', event: 'order_fulfilled' },
    runContractFunction: {
      address,
      function_name: 'balanceOf',
      body: { abi: balanceOf, params: { account } },
    },
    getContractLogs: { address },
    getContractEvents: { address, body: transfer },
  };
}

function ofAptos(): Record<string, Example> {
  const { traded, holders } = createDemoLedger();
  const wallets = { owner_addresses: holders[0]?.[0] };
  return {
    getLatestCoins: {},
    getCoinsBySymbolRange: { from_symbol: 'DEMO1', to_symbol: 'DEMO2' },
    getCoinsByNameRange: { from_name: 'Demo coin 1', to_name: 'Demo coin 2' },
    getCoinsByCreators: { creator_addresses: holders[0]?.[0] },
    getCoinInfoByCoinTypeHashes: { coin_type_hashes: traded.hash },
    getCoinTransfersByOwnerAddresses: wallets,
    getCoinTransfersByWalletAddresses: wallets,
    getCoinTransfersByBlockHeights: { block_heights: '1' },
    getCoinTransfersByCoinType: { coin_type: traded.type },
    getCoinBalancesByWallets: wallets,
    getHistoricalCoinBalancesByWallets: wallets,
    getTopHoldersByCoin: { coin_type_hash: traded.hash },
  };
}

function ofStreams({ id }: DemoStream): Record<string, Example> {
  return {
    GetStreams: {},
    GetStream: { id },
    GetAddresses: { id },
    GetSettings: {},
    GetStats: {},
    GetStatsByStreamId: { streamId: id },
    GetHistory: {},
    GetLogs: {},
    GetJobs: {},
  };
}

const OF_SERVER: Record<string, Example> = {
  'POST /{chain}/{apiKey}': {
    ...{ chain: 'devnet', apiKey: 'any-key' },
    body: { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] },
  },
  'GET /supportedMethods': {},
  'GET /{chain}/supportedMethods': { chain: 'devnet' },
  'GET /chain/all': {},
  'GET /chain/extended/all': {},
  'GET /info': {},
  'GET /health': {},
  'GET /ready': {},
  'GET /synced': {},
  web3ApiVersion: {},
  endpointWeights: {},
};
