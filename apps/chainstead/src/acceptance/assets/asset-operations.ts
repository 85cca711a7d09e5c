/** The operations that say who holds what, with what each of them can be asked wrongly. */

/** A whole number that a row limit may not exceed: larger wishes mean it. */
type LimitMax = 100 | 5000;

export interface AssetOperation {
  /** The provider's name of it. */
  readonly name: string;
  /** Below `/api/v2.2`; `{address}` and `{token_id}` are filled in. */
  readonly path: string;
  /** What the path calls its address; absent where it has none. */
  readonly address?: 'address' | 'token_address' | 'tokenAddress';
  /** Query parameters without which it is refused. */
  readonly needs?: string;
  /** A body that it takes; it is posted. */
  readonly body?: object;
  /** Of those with pages. */
  readonly limit?: LimitMax;
  readonly hasOrder?: boolean;
  /** Parameters that are `true` or `false`. */
  readonly flags?: readonly string[];
  readonly hasFormat?: boolean;
  /** A parameter that is a list of addresses. */
  readonly list?: string;
  /** Parameters that are blocks. */
  readonly blocks?: readonly string[];
  /** Parameters that are dates. */
  readonly dates?: readonly string[];
}

export const TOKEN = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
export const COLLECTION = `0x${'ca'.repeat(20)}`;
const RANGE = ['from_block', 'to_block'];
const DATES = ['from_date', 'to_date'];
const RECORD = { hasFormat: true, flags: ['normalizeMetadata', 'media_items'] } as const;

/** In the order in which users call them. */
export const ASSET_OPERATIONS: readonly AssetOperation[] = [
  {
    name: 'getWalletTokenBalances',
    path: '/{address}/erc20',
    address: 'address',
    flags: ['exclude_spam'],
    list: 'token_addresses',
    blocks: ['to_block'],
  },
  {
    name: 'getWalletTokenBalancesPrice',
    path: '/wallets/{address}/tokens',
    address: 'address',
    limit: 100,
    flags: ['exclude_spam', 'exclude_unverified_contracts', 'exclude_native'],
    list: 'token_addresses',
    blocks: ['to_block'],
  },
  { name: 'getTokenMetadata', path: '/erc20/metadata', needs: `addresses=${TOKEN}`, list: 'addresses' },
  { name: 'getTokenMetadataBySymbol', path: '/erc20/metadata/symbols', needs: 'symbols=USDC' },
  {
    name: 'getTokenTransfers',
    path: '/erc20/{address}/transfers',
    address: 'address',
    limit: 100,
    hasOrder: true,
    blocks: RANGE,
    dates: DATES,
  },
  { name: 'getTokenOwners', path: '/erc20/{address}/owners', address: 'token_address', limit: 100, hasOrder: true },
  { name: 'getTokenHolders', path: '/erc20/{address}/holders', address: 'tokenAddress' },
  {
    name: 'getHistoricalTokenHolders',
    path: '/erc20/{address}/holders/historical',
    address: 'tokenAddress',
    needs: 'fromDate=1700000000&toDate=1700086400&timeFrame=1h',
    limit: 100,
  },
  { name: 'getTokenStats', path: '/erc20/{address}/stats', address: 'address' },
  { name: 'getNativeBalance', path: '/{address}/balance', address: 'address', blocks: ['to_block'] },
  {
    name: 'getNativeBalancesForAddresses',
    path: '/wallets/balances',
    needs: `wallet_addresses=${TOKEN}`,
    list: 'wallet_addresses',
    blocks: ['to_block'],
  },
  { name: 'getWalletApprovals', path: '/wallets/{address}/approvals', address: 'address', limit: 100 },
  {
    name: 'getWalletNFTs',
    path: '/{address}/nft',
    address: 'address',
    limit: 100,
    hasFormat: true,
    flags: ['exclude_spam', 'normalizeMetadata', 'media_items', 'include_prices'],
    list: 'token_addresses',
  },
  {
    name: 'getMultipleNFTs',
    path: '/nft/getMultipleNFTs',
    body: { tokens: [{ token_address: COLLECTION, token_id: '1' }] },
  },
  { name: 'getNFTMetadata', path: '/nft/{address}/{token_id}', address: 'address', ...RECORD },
  { name: 'getContractNFTs', path: '/nft/{address}', address: 'address', limit: 100, ...RECORD },
  { name: 'getNFTOwners', path: '/nft/{address}/owners', address: 'address', limit: 100, ...RECORD },
  { name: 'getNFTTokenIdOwners', path: '/nft/{address}/{token_id}/owners', address: 'address', limit: 100, ...RECORD },
  { name: 'getUniqueOwnersByCollection', path: '/nft/{address}/unique-owners', address: 'address', limit: 5000 },
  {
    name: 'getWalletNFTTransfers',
    path: '/{address}/nft/transfers',
    address: 'address',
    limit: 100,
    hasOrder: true,
    hasFormat: true,
    flags: ['include_prices'],
    list: 'contract_addresses',
    blocks: RANGE,
    dates: DATES,
  },
  {
    name: 'getNFTContractTransfers',
    path: '/nft/{address}/transfers',
    address: 'address',
    limit: 100,
    hasOrder: true,
    hasFormat: true,
    flags: ['include_prices'],
    blocks: RANGE,
    dates: DATES,
  },
  {
    name: 'getNFTTransfers',
    path: '/nft/{address}/{token_id}/transfers',
    address: 'address',
    limit: 100,
    hasOrder: true,
    hasFormat: true,
    flags: ['include_prices'],
  },
  { name: 'getNFTBulkContractMetadata', path: '/nft/metadata', body: { addresses: [COLLECTION] } },
  { name: 'getNFTCollectionStats', path: '/nft/{address}/stats', address: 'address' },
  { name: 'getNFTTraitsByCollection', path: '/nft/{address}/traits', address: 'address' },
  {
    name: 'getNFTTraitsByCollectionPaginate',
    path: '/nft/{address}/traits/paginate',
    address: 'address',
    limit: 100,
    hasOrder: true,
  },
  {
    name: 'getNFTByContractTraits',
    path: '/nft/{address}/nfts-by-traits',
    address: 'address',
    body: { traits: { Background: 'Blue' } },
    limit: 100,
    ...RECORD,
  },
  { name: 'resyncNFTRarity', path: '/nft/{address}/traits/resync', address: 'address' },
  { name: 'getNFTFloorPriceByContract', path: '/nft/{address}/floor-price', address: 'address' },
  { name: 'getNFTFloorPriceByToken', path: '/nft/{address}/{token_id}/floor-price', address: 'address' },
  { name: 'getNFTHistoricalFloorPriceByContract', path: '/nft/{address}/floor-price/historical', address: 'address' },
];

/** One of them. @throws where there is none of that name */
export function assetOperation(name: string): AssetOperation {
  const found = ASSET_OPERATIONS.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`${name} is no operation on assets`);
  return found;
}
