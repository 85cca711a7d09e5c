/** The operations that say who holds what, with what each of them can be asked wrongly. */

/** What a query parameter is read as. */
export type ParameterKind =
  | 'addresses'
  | 'block'
  | 'cursor'
  | 'date'
  | 'days'
  | 'flag'
  | 'format'
  | 'frame'
  | 'interval'
  | 'limit'
  | 'marketplace'
  | 'number'
  | 'order'
  | 'part'
  | 'symbols'
  | 'wideLimit';

export interface AssetOperation {
  /** The provider's name of it. */
  readonly name: string;
  /** Below `/api/v2.2`; `{address}` and `{token_id}` are filled in. */
  readonly path: string;
  /** What the path calls its address; absent where it has none. */
  readonly address?: 'address' | 'token_address' | 'tokenAddress';
  /** Query parameters; all of them also have `chain`. */
  readonly parameters: Readonly<Record<string, ParameterKind>>;
  /** Those without which it is refused, each with a value. */
  readonly needs?: Readonly<Record<string, string>>;
  /** A body that it takes; it is posted. */
  readonly body?: object;
}

export const TOKEN = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
export const COLLECTION = `0x${'ca'.repeat(20)}`;
const PAGE = { limit: 'limit', cursor: 'cursor' } as const;
const BOUNDS = { from_block: 'block', to_block: 'block', from_date: 'date', to_date: 'date' } as const;
const RECORD = { format: 'format', normalizeMetadata: 'flag', media_items: 'flag' } as const;
const NFT_TRANSFERS = { ...PAGE, order: 'order', format: 'format', include_prices: 'flag' } as const;

/** In the order in which users call them. */
export const ASSET_OPERATIONS: readonly AssetOperation[] = [
  {
    name: 'getWalletTokenBalances',
    path: '/{address}/erc20',
    address: 'address',
    parameters: { to_block: 'block', token_addresses: 'addresses', exclude_spam: 'flag', proof: 'flag' },
  },
  {
    name: 'getWalletTokenBalancesPrice',
    path: '/wallets/{address}/tokens',
    address: 'address',
    parameters: {
      ...PAGE,
      to_block: 'block',
      token_addresses: 'addresses',
      exclude_spam: 'flag',
      exclude_unverified_contracts: 'flag',
      exclude_native: 'flag',
      max_token_inactivity: 'number',
      min_pair_side_liquidity_usd: 'number',
    },
  },
  {
    name: 'getTokenMetadata',
    path: '/erc20/metadata',
    parameters: { addresses: 'addresses' },
    needs: { addresses: TOKEN },
  },
  {
    name: 'getTokenMetadataBySymbol',
    path: '/erc20/metadata/symbols',
    parameters: { symbols: 'symbols' },
    needs: { symbols: 'USDC' },
  },
  {
    name: 'getWalletTokenTransfers',
    path: '/{address}/erc20/transfers',
    address: 'address',
    parameters: { ...PAGE, ...BOUNDS, order: 'order', contract_addresses: 'addresses', disable_total: 'flag' },
  },
  {
    name: 'getTokenTransfers',
    path: '/erc20/{address}/transfers',
    address: 'address',
    parameters: { ...PAGE, ...BOUNDS, order: 'order' },
  },
  {
    name: 'getTokenOwners',
    path: '/erc20/{address}/owners',
    address: 'token_address',
    parameters: { ...PAGE, order: 'order' },
  },
  { name: 'getTokenHolders', path: '/erc20/{address}/holders', address: 'tokenAddress', parameters: {} },
  {
    name: 'getHistoricalTokenHolders',
    path: '/erc20/{address}/holders/historical',
    address: 'tokenAddress',
    parameters: { ...PAGE, fromDate: 'date', toDate: 'date', timeFrame: 'frame' },
    needs: { fromDate: '1700000000', toDate: '1700086400' },
  },
  { name: 'getTokenStats', path: '/erc20/{address}/stats', address: 'address', parameters: {} },
  { name: 'getNativeBalance', path: '/{address}/balance', address: 'address', parameters: { to_block: 'block' } },
  {
    name: 'getNativeBalancesForAddresses',
    path: '/wallets/balances',
    parameters: { to_block: 'block', wallet_addresses: 'addresses' },
    needs: { wallet_addresses: TOKEN },
  },
  { name: 'getWalletApprovals', path: '/wallets/{address}/approvals', address: 'address', parameters: PAGE },
  {
    name: 'getWalletNFTs',
    path: '/{address}/nft',
    address: 'address',
    parameters: {
      ...PAGE,
      ...RECORD,
      token_addresses: 'addresses',
      exclude_spam: 'flag',
      include_prices: 'flag',
    },
  },
  {
    name: 'getMultipleNFTs',
    path: '/nft/getMultipleNFTs',
    parameters: {},
    body: { tokens: [{ token_address: COLLECTION, token_id: '1' }] },
  },
  {
    name: 'getNFTMetadata',
    path: '/nft/{address}/{token_id}',
    address: 'address',
    parameters: { ...RECORD, include_prices: 'flag' },
  },
  {
    name: 'getContractNFTs',
    path: '/nft/{address}',
    address: 'address',
    parameters: { ...PAGE, ...RECORD, include_prices: 'flag', totalRanges: 'part', range: 'part' },
  },
  { name: 'getNFTOwners', path: '/nft/{address}/owners', address: 'address', parameters: { ...PAGE, ...RECORD } },
  {
    name: 'getNFTTokenIdOwners',
    path: '/nft/{address}/{token_id}/owners',
    address: 'address',
    parameters: { ...PAGE, ...RECORD },
  },
  {
    name: 'getUniqueOwnersByCollection',
    path: '/nft/{address}/unique-owners',
    address: 'address',
    parameters: { limit: 'wideLimit', cursor: 'cursor' },
  },
  {
    name: 'getWalletNFTTransfers',
    path: '/{address}/nft/transfers',
    address: 'address',
    parameters: { ...NFT_TRANSFERS, ...BOUNDS, contract_addresses: 'addresses' },
  },
  {
    name: 'getNFTContractTransfers',
    path: '/nft/{address}/transfers',
    address: 'address',
    parameters: { ...NFT_TRANSFERS, ...BOUNDS },
  },
  {
    name: 'getNFTTransfers',
    path: '/nft/{address}/{token_id}/transfers',
    address: 'address',
    parameters: NFT_TRANSFERS,
  },
  {
    name: 'getNFTBulkContractMetadata',
    path: '/nft/metadata',
    parameters: { include_prices: 'flag' },
    body: { addresses: [COLLECTION] },
  },
  { name: 'getNFTCollectionStats', path: '/nft/{address}/stats', address: 'address', parameters: {} },
  { name: 'getNFTTraitsByCollection', path: '/nft/{address}/traits', address: 'address', parameters: {} },
  {
    name: 'getNFTTraitsByCollectionPaginate',
    path: '/nft/{address}/traits/paginate',
    address: 'address',
    parameters: { ...PAGE, order: 'order' },
  },
  {
    name: 'getNFTByContractTraits',
    path: '/nft/{address}/nfts-by-traits',
    address: 'address',
    parameters: { ...PAGE, ...RECORD },
    body: { traits: { Background: 'Blue' } },
  },
  { name: 'resyncNFTRarity', path: '/nft/{address}/traits/resync', address: 'address', parameters: {} },
  {
    name: 'getNFTFloorPriceByContract',
    path: '/nft/{address}/floor-price',
    address: 'address',
    parameters: {},
  },
  {
    name: 'getNFTFloorPriceByToken',
    path: '/nft/{address}/{token_id}/floor-price',
    address: 'address',
    parameters: {},
  },
  {
    name: 'getNFTHistoricalFloorPriceByContract',
    path: '/nft/{address}/floor-price/historical',
    address: 'address',
    parameters: { interval: 'interval' },
  },
];

const TRADES = { ...PAGE, ...BOUNDS, nft_metadata: 'flag' } as const;
const PRICES = { days: 'days', include_weth: 'flag' } as const;

/** Operations without rows on the stage of the tables. */
export const TRADE_OPERATIONS: readonly AssetOperation[] = [
  {
    name: 'getNFTTradesByToken',
    path: '/nft/{address}/{token_id}/trades',
    address: 'address',
    parameters: TRADES,
  },
  {
    name: 'getNFTTrades',
    path: '/nft/{address}/trades',
    address: 'address',
    parameters: { ...TRADES, marketplace: 'marketplace' },
  },
  {
    name: 'getNFTTradesByWallet',
    path: '/wallets/{address}/nfts/trades',
    address: 'address',
    parameters: TRADES,
  },
  { name: 'getNFTSalePrices', path: '/nft/{address}/{token_id}/price', address: 'address', parameters: PRICES },
  { name: 'getNFTContractSalePrices', path: '/nft/{address}/price', address: 'address', parameters: PRICES },
  {
    name: 'getWalletNFTCollections',
    path: '/{address}/nft/collections',
    address: 'address',
    parameters: { ...PAGE, token_counts: 'flag', exclude_spam: 'flag', include_prices: 'flag' },
  },
];

/** One of them. @throws where there is none of that name */
export function assetOperation(name: string): AssetOperation {
  const found = ASSET_OPERATIONS.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`${name} is no operation on assets`);
  return found;
}
