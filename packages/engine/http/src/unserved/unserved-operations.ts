import { type RouteModule, withScope } from '../api-dependencies.ts';
import { NotServedError } from '../errors/api-error.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface UnservedOperation {
  readonly method: Method;
  readonly path: string;
  readonly name: string;
  readonly group: string;
}

function unserved(
  base: string,
  group: string,
  operations: readonly (readonly [method: Method, path: string, name: string])[],
): readonly UnservedOperation[] {
  return operations.map(([method, path, name]) => ({ method, path: base + path, name, group }));
}

const EVM_OPERATIONS: readonly UnservedOperation[] = [
  ...unserved('/api/v2.2', 'NFT', [
    ['GET', '/nft/{address}/lowestprice', 'getNFTLowestPrice'],
    ['GET', '/nft/{address}/{token_id}/stats', 'getNFTTokenStats'],
    ['GET', '/nft/transfers', 'getNFTTransfersFromToBlock'],
    ['GET', '/block/{block_number_or_hash}/nft/transfers', 'getNFTTransfersByBlock'],
  ]),
  ...unserved('/api/v2.2', 'Token', [
    ['GET', '/tokens/categories', 'getTokenCategories'],
    ['GET', '/erc20/exchange/{exchangeName}/new', 'getNewTokensByExchange'],
    ['GET', '/erc20/exchange/{exchangeName}/bonding', 'getBondingTokensByExchange'],
    ['GET', '/erc20/exchange/{exchangeName}/graduated', 'getGraduatedTokensByExchange'],
    ['GET', '/erc20/{tokenAddress}/bondingStatus', 'getTokenBondingStatus'],
    ['GET', '/pairs/{address}/snipers', 'getSnipersByPairAddress'],
    ['GET', '/volume/chains', 'getVolumeStatsByChain'],
    ['GET', '/volume/categories', 'getVolumeStatsByCategory'],
    ['GET', '/volume/timeseries', 'getTimeSeriesVolume'],
    ['GET', '/volume/timeseries/{categoryId}', 'getTimeSeriesVolumeByCategory'],
    ['GET', '/tokens/trending', 'getTrendingTokensV2'],
    ['GET', '/tokens/{tokenAddress}/score', 'getTokenScore'],
    ['GET', '/tokens/{tokenAddress}/score/historical', 'getHistoricalTokenScore'],
  ]),
  ...unserved('/api/v2.2', 'Wallets', [
    ['GET', '/wallets/{address}/defi/summary', 'getDefiSummary'],
    ['GET', '/wallets/{address}/defi/{protocol}/positions', 'getDefiPositionsByProtocol'],
    ['GET', '/wallets/{address}/defi/positions', 'getDefiPositionsSummary'],
  ]),
  ...unserved('/api/v2.2', 'Market Data', [
    ['GET', '/market-data/erc20s/top-tokens', 'getTopERC20TokensByMarketCap'],
    ['GET', '/market-data/erc20s/top-movers', 'getTopERC20TokensByPriceMovers'],
    ['GET', '/market-data/nfts/top-collections', 'getTopNFTCollectionsByMarketCap'],
    ['GET', '/market-data/nfts/hottest-collections', 'getHottestNFTCollectionsByTradingVolume'],
    ['GET', '/market-data/global/market-cap', 'getTopCryptoCurrenciesByMarketCap'],
    ['GET', '/market-data/global/volume', 'getTopCryptoCurrenciesByTradingVolume'],
  ]),
  ...unserved('/api/v2.2', 'Discovery', [
    ['POST', '/discovery/tokens', 'getFilteredTokens'],
    ['GET', '/discovery/tokens/rising-liquidity', 'getRisingLiquidityTokens'],
    ['GET', '/discovery/tokens/buying-pressure', 'getBuyingPressureTokens'],
    ['GET', '/discovery/tokens/solid-performers', 'getSolidPerformersTokens'],
    ['GET', '/discovery/tokens/experienced-buyers', 'getExperiencedBuyersTokens'],
    ['GET', '/discovery/tokens/risky-bets', 'getRiskyBetsTokens'],
    ['GET', '/discovery/tokens/blue-chip', 'getBlueChipTokens'],
    ['GET', '/discovery/tokens/top-gainers', 'getTopGainersTokens'],
    ['GET', '/discovery/tokens/top-losers', 'getTopLosersTokens'],
    ['GET', '/discovery/tokens/trending', 'getTrendingTokens'],
    ['GET', '/discovery/token', 'getDiscoveryToken'],
  ]),
  ...unserved('/api/v2.2', 'Entities', [
    ['GET', '/entities/search', 'searchEntities'],
    ['GET', '/entities/{entityId}', 'getEntity'],
    ['GET', '/entities/categories', 'getEntityCategories'],
    ['GET', '/entities/categories/{categoryId}', 'getEntitiesByCategory'],
  ]),
  ...unserved('/api/v2.2', 'IPFS', [['POST', '/ipfs/uploadFolder', 'uploadFolder']]),
];

const STREAM_OPERATIONS: readonly UnservedOperation[] = [
  ...unserved('', 'Solana Streams', [
    ['GET', '/streams/solana', 'solanaStreamsGetAll'],
    ['PUT', '/streams/solana', 'solanaStreamsCreate'],
    ['GET', '/streams/solana/{id}', 'solanaStreamsGet'],
    ['POST', '/streams/solana/{id}', 'solanaStreamsUpdate'],
    ['DELETE', '/streams/solana/{id}', 'solanaStreamsDelete'],
    ['GET', '/streams/solana/{id}/address', 'solanaStreamsGetAddresses'],
    ['POST', '/streams/solana/{id}/address', 'solanaStreamsAddAddresses'],
    ['DELETE', '/streams/solana/{id}/address', 'solanaStreamsDeleteAddresses'],
    ['POST', '/streams/solana/{id}/status', 'solanaStreamsUpdateStatus'],
    ['POST', '/streams/solana/{chainId}/block/{blockNumber}', 'solanaGetBlockByNumber'],
    ['POST', '/streams/solana/{chainId}/block-to-webhook/{blockNumber}/{streamId}', 'solanaBlockToWebhook'],
  ]),
  ...unserved('', 'Bitcoin Streams', [
    ['GET', '/streams/bitcoin', 'bitcoinStreamsGetAll'],
    ['PUT', '/streams/bitcoin', 'bitcoinStreamsCreate'],
    ['GET', '/streams/bitcoin/{id}', 'bitcoinStreamsGet'],
    ['POST', '/streams/bitcoin/{id}', 'bitcoinStreamsUpdate'],
    ['DELETE', '/streams/bitcoin/{id}', 'bitcoinStreamsDelete'],
    ['GET', '/streams/bitcoin/{id}/address', 'bitcoinStreamsGetAddresses'],
    ['POST', '/streams/bitcoin/{id}/address', 'bitcoinStreamsAddAddresses'],
    ['DELETE', '/streams/bitcoin/{id}/address', 'bitcoinStreamsDeleteAddresses'],
    ['GET', '/streams/bitcoin/{id}/xpub', 'bitcoinStreamsGetXpubs'],
    ['POST', '/streams/bitcoin/{id}/xpub', 'bitcoinStreamsAddXpub'],
    ['DELETE', '/streams/bitcoin/{id}/xpub/{xpubId}', 'bitcoinStreamsDeleteXpub'],
    ['POST', '/streams/bitcoin/{id}/status', 'bitcoinStreamsUpdateStatus'],
    ['POST', '/streams/bitcoin/{chainId}/block/{blockNumber}', 'bitcoinGetBlockByNumber'],
    ['POST', '/streams/bitcoin/{chainId}/block-to-webhook/{blockNumber}/{streamId}', 'bitcoinBlockToWebhook'],
  ]),
  ...unserved('', 'Aptos Streams', [
    ['GET', '/streams/aptos', 'getStreamsAptos'],
    ['PUT', '/streams/aptos', 'createStreamAptos'],
    ['GET', '/streams/aptos/{id}', 'getStreamAptos'],
    ['POST', '/streams/aptos/{id}', 'updateStreamAptos'],
    ['DELETE', '/streams/aptos/{id}', 'deleteStreamAptos'],
    ['GET', '/streams/aptos/{id}/address', 'getAddressesAptos'],
    ['POST', '/streams/aptos/{id}/address', 'addAddressAptos'],
    ['DELETE', '/streams/aptos/{id}/address', 'deleteAddressAptos'],
    ['POST', '/streams/aptos/{id}/status', 'updateStreamStatusAptos'],
  ]),
];

const APTOS_OPERATIONS: readonly UnservedOperation[] = [
  ...unserved('', 'NFT Tokens', [
    ['GET', '/nfts', 'getNFTsByIds'],
    ['GET', '/nfts/collections/{collection_data_id_hash}/tokens', 'getNFTsByCollection'],
    ['GET', '/nfts/creators', 'getNFTsByCreators'],
  ]),
  ...unserved('', 'NFT Collections', [
    ['GET', '/collections', 'getNFTCollections'],
    ['GET', '/collections/ids', 'getNFTCollectionsByIds'],
    ['GET', '/collections/creators', 'getNFTCollectionsByCreator'],
  ]),
  ...unserved('', 'NFT Owners', [
    ['GET', '/nfts/owners', 'getNFTOwnersByTokens'],
    ['GET', '/nfts/collections/{collection_data_id_hash}/owners', 'getNFTOwnersByCollection'],
    ['GET', '/nfts/collections/{collection_data_id_hash}/owners/list', 'getNFTOwnersOfCollection'],
  ]),
  ...unserved('', 'NFT Transfers', [
    ['GET', '/nfts/transfers', 'getNFTTransfersByIds'],
    ['GET', '/nfts/transfers/collections/{collection_data_id_hash}', 'getNFTTransfersByCollection'],
    ['GET', '/nfts/transfers/creators', 'getNFTTransfersByCreators'],
    ['GET', '/nfts/transfers/wallets', 'getNFTTransfersByWallets'],
  ]),
  ...unserved('', 'Wallets', [
    ['GET', '/wallets/nfts', 'getNFTByOwners'],
    ['GET', '/wallets/nfts/transfers', 'getWalletsNFTTransfers'],
  ]),
  ...unserved('', 'Accounts', [
    ['GET', '/accounts/{address}', 'getAccount'],
    ['GET', '/accounts/{address}/resources', 'getAccountResources'],
    ['GET', '/accounts/{address}/modules', 'getAccountModules'],
    // Two operations of the hosted API share this path.
    ['GET', '/accounts/{address}/resource/{resource_type}', 'getAccountResource, getAccountModule'],
  ]),
  ...unserved('', 'Events', [
    ['GET', '/accounts/{address}/events/{creation_number}', 'getEventsByCreationNumber'],
    ['GET', '/accounts/{address}/events/{event_handle}/{field_name}', 'getEventsByEventHandle'],
  ]),
  ...unserved('', 'Transactions', [
    ['GET', '/transactions', 'getTransactions'],
    ['POST', '/transactions', 'submitTransaction'],
    ['GET', '/transactions/by_hash/{txn_hash}', 'getTransactionByHash'],
    ['GET', '/transactions/by_version/{txn_version}', 'getTransactionByVersion'],
    ['GET', '/accounts/{address}/transactions', 'getAccountTransactions'],
    ['POST', '/transactions/batch', 'submitBatchTransactions'],
    ['POST', '/transactions/simulate', 'simulateTransaction'],
    ['POST', '/transactions/encode_submission', 'encodeSubmission'],
    ['GET', '/transactions/estimate_gas_price', 'estimateGasPrice'],
  ]),
  ...unserved('', 'Blocks', [
    ['GET', '/blocks/{block_height}', 'getBlockByHeight'],
    ['GET', '/blocks/by_version/{version}', 'getBlockByVersion'],
  ]),
];

/** Each gets a 501 and is listed at `/docs/not-served`. Remove an operation that a route serves. */
export const UNSERVED_OPERATIONS: readonly UnservedOperation[] = [
  ...EVM_OPERATIONS,
  ...STREAM_OPERATIONS,
  ...APTOS_OPERATIONS,
];

/** Clients understand 404 as "there is none". Registered last: served operations win. */
export const unservedRoutes: RouteModule = (app, dependencies) => {
  const isOfStreams = ({ path }: UnservedOperation): boolean => path.startsWith('/streams/');
  // The first match wins, so fixed segments are sorted before parameters.
  const sorted = UNSERVED_OPERATIONS.map((operation) => ({ operation, shape: shapeOf(operation.path) }))
    .toSorted((left, right) => (left.shape < right.shape ? -1 : Number(left.shape > right.shape)))
    .map(({ operation }) => operation);
  const groups = Map.groupBy(sorted, (operation) => (isOfStreams(operation) ? 'streams' : 'data'));
  for (const [scope, operations] of groups) withScope(scope, operations.map(refusal))(app, dependencies);
};

function refusal(operation: UnservedOperation): RouteModule {
  // A path that is only a parameter would match every mistyped path as an address.
  const path = operation.path
    .replace(/^(\/api\/v2\.2\/)\{address\}$/, '$1:address{0x[^/]*}')
    .replaceAll(/(?<!:address)\{([^}]+)\}/g, ':$1');
  return (app) => {
    app.on(operation.method, path, () => {
      throw new NotServedError(operation);
    });
  };
}

function shapeOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith('{') ? '1' : '0'))
    .join('/');
}
