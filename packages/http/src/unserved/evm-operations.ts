import { type UnservedOperation, unserved } from './unserved-operation.ts';

/** Operations of the data API, below `/api/v2.2`. */
export const EVM_OPERATIONS: readonly UnservedOperation[] = [
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
