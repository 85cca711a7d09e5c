import { plainCount } from '../../../layout/numbers.ts';
import {
  account,
  amount,
  block,
  type Column,
  change,
  contract,
  dollars,
  flags,
  logo,
  NAME_MAX,
  nft,
  nfts,
  number,
  PICTURE,
  picture,
  pool,
  price,
  share,
  text,
  textAt,
  time,
  tokens,
  transaction,
} from './cells.ts';
import { type DataTable, listTable, recordTable } from './data-table.ts';

const TRADE_COLUMNS: readonly Column[] = [
  ['Time', time()],
  ['Price', price('price', 'price_token_address'), 'number'],
  ['NFTs', nfts('token_address', 'token_ids')],
  ['Seller', account('seller_address')],
  ['Buyer', account('buyer_address')],
  ['Marketplace', account('marketplace_address')],
  ['Transaction', transaction()],
];

const MOVE_COLUMNS: readonly Column[] = [
  ['Time', time()],
  ['NFT', nft('token_address', 'token_id')],
  ['From', account('from_address', 'from_address_label')],
  ['To', account('to_address', 'to_address_label')],
  ['Amount', text('amount'), 'number'],
  ['Block', block(), 'number'],
  ['Transaction', transaction()],
];

const OWNER_COLUMNS: readonly Column[] = [
  ['Owner', account('owner_of')],
  ['NFT', nft('token_address', 'token_id')],
  ['Amount', text('amount'), 'number'],
  ['Since block', block(), 'number'],
];

const PRICE_COLUMNS: readonly Column[] = [
  ['Sales', text('total_trades')],
  ['Last price', amount('last_sale.price', 18)],
  ['Last sale', time('last_sale.block_timestamp')],
  ['Lowest price', amount('lowest_sale.price', 18)],
  ['Average price', amount('average_sale.price', 18)],
  ['Highest price', amount('highest_sale.price', 18)],
  ['Note', text('message')],
];

const PRICE_QUERY = { days: '365', include_weth: 'true' };

export const TOKEN_TABLES: readonly DataTable[] = [
  recordTable('token-price', 'Price', ({ address }) => `/api/v2.2/erc20/${address}/price`, [
    ['Price', dollars('usdPriceFormatted')],
    ['End of block', block('indexed.to_block')],
    ['Since 24 hours before', change('24hrPercentChange')],
    ['Exchange', text('exchangeName')],
    ['Pool', pool('pairAddress')],
    ['Liquidity of the pool', dollars('pairTotalLiquidityUsd')],
  ]),
  recordTable('token-market', 'Market', ({ address }) => `/api/v2.2/tokens/${address}/analytics`, [
    ['Market value of the whole supply', dollars('totalFullyDilutedValuation')],
    ['Liquidity of all pools', dollars('totalLiquidity')],
    ['Bought in 24 hours', dollars('totalBuyVolume.24h')],
    ['Sold in 24 hours', dollars('totalSellVolume.24h')],
    ['Wallets that traded in 24 hours', number('uniqueWallets.24h')],
  ]),
  recordTable('token', 'Token', ({ address }) => ['/api/v2.2/erc20/metadata', { addresses: address }], [
    ['Name', text('name')],
    ['Symbol', text('symbol')],
    ['Decimals', text('decimals')],
    ['Total supply', amount('total_supply', 'decimals', 'symbol')],
    ['Created in block', block()],
    ['Created at', time('created_at')],
    ['Label', text('address_label')],
    ['Notes', flags({ verified_contract: 'listed', possible_spam: 'spam?' })],
  ]),
  recordTable('token-holder-count', 'Holders', ({ address }) => `/api/v2.2/erc20/${address}/holders`, [
    ['Wallets with a balance', number('totalHolders')],
  ]),
  {
    ...listTable('token-holders', 'Token holders', ({ address }) => `/api/v2.2/erc20/${address}/owners`, [
      ['Balance', number('balance_formatted'), 'number'],
      ['Value', dollars('usd_value'), 'number'],
      ['Holder', account('owner_address', 'owner_address_label')],
      ['Share of supply', share('percentage_relative_to_total_supply'), 'number'],
      ['Notes', flags({ is_contract: 'contract' })],
    ]),
    note: (holders, { usd_value_limit: limit }) => {
      const total = holders.reduce((sum, holder) => sum + Number(textAt(holder, 'usd_value') ?? 0), 0);
      if (typeof limit !== 'string' || total <= Number(limit)) return null;
      return `Values are balances at the price of the token. All holders together can receive at most what its pools can pay out: ${plainCount(Number(limit))} USD.`;
    },
  },
  listTable('token-swaps', 'Swaps', ({ address }) => `/api/v2.2/erc20/${address}/swaps`, [
    ['Time', time('blockTimestamp')],
    ['Value', dollars('totalValueUsd'), 'number'],
    ['Bought', tokens('bought.amount', 'bought.symbol'), 'number'],
    ['Sold', tokens('sold.amount', 'sold.symbol'), 'number'],
    ['Wallet', account('walletAddress', 'walletAddressLabel')],
    ['Type', text('transactionType')],
    ['Pool', pool('pairAddress')],
    ['Transaction', transaction('transactionHash', 'blockNumber')],
  ]),
  listTable('token-transfers', 'Token transfers', ({ address }) => `/api/v2.2/erc20/${address}/transfers`, [
    ['Time', time()],
    ['Amount', amount('value', 'token_decimals', 'token_symbol'), 'number'],
    ['From', account('from_address', 'from_address_label')],
    ['To', account('to_address', 'to_address_label')],
    ['Block', block(), 'number'],
    ['Transaction', transaction()],
  ]),
];

/** `address` is a pool, or its id at a pool manager. */
export const POOL_TABLES: readonly DataTable[] = [
  recordTable('pool-market', 'Market', ({ address }) => `/api/v2.2/pairs/${address}/stats`, [
    ['Price', dollars('currentUsdPrice')],
    ['Liquidity', dollars('totalLiquidityUsd')],
    ['Volume in 24 hours', dollars('totalVolume.24h')],
    ['Bought in 24 hours', dollars('buyVolume.24h')],
    ['Sold in 24 hours', dollars('sellVolume.24h')],
    ['Buys in 24 hours', number('buys.24h')],
    ['Sells in 24 hours', number('sells.24h')],
  ]),
  {
    ...recordTable(
      'pool-reserves',
      'Reserves',
      ({ address }) => [`/api/v2.2/pairs/${address}/swaps`, { limit: '1' }],
      [
        ['Base token', tokens('baseToken.amount', 'baseToken.symbol')],
        ['Value of the base token', dollars('baseToken.usdAmount')],
        ['Quote token', tokens('quoteToken.amount', 'quoteToken.symbol')],
        ['Value of the quote token', dollars('quoteToken.usdAmount')],
      ],
    ),
    note: () =>
      'Pools of concentrated liquidity and pools with more than two tokens have no pair of reserves. Their liquidity is above.',
  },
  listTable('pool-swaps', 'Swaps and liquidity changes', ({ address }) => `/api/v2.2/pairs/${address}/swaps`, [
    ['Time', time('blockTimestamp')],
    ['Value', dollars('totalValueUsd'), 'number'],
    ['Type', text('transactionType')],
    ['Base token', number('baseTokenAmount'), 'number'],
    ['Quote token', number('quoteTokenAmount'), 'number'],
    ['Wallet', account('walletAddress', 'walletAddressLabel')],
    ['Transaction', transaction('transactionHash', 'blockNumber')],
  ]),
];

export const COLLECTION_TABLES: readonly DataTable[] = [
  recordTable('collection', 'Collection', ({ address }) => `/api/v2.2/nft/${address}/metadata`, [
    ['Logo', logo('token_address', 'collection_logo')],
    ['Name', text('name')],
    ['Symbol', text('symbol')],
    ['Type', text('contract_type')],
    ['Category', text('collection_category')],
    ['Website', text('project_url')],
    ['Base URI', text('base_uri')],
    ['Last read', time('synced_at')],
    ['Notes', flags({ verified_collection: 'listed', possible_spam: 'spam?' })],
  ]),
  recordTable('collection-stats', 'Counts', ({ address }) => `/api/v2.2/nft/${address}/stats`, [
    ['NFTs', text('total_tokens')],
    ['Owners', text('owners.current')],
    ['Transfers', text('transfers.total')],
  ]),
  recordTable(
    'collection-prices',
    'Sale prices, last year, in ether',
    ({ address }) => [`/api/v2.2/nft/${address}/price`, PRICE_QUERY],
    PRICE_COLUMNS,
  ),
  listTable('collection-nfts', 'Collection NFTs', ({ address }) => `/api/v2.2/nft/${address}`, [
    [PICTURE, picture('token_address', 'token_id', 'normalized_metadata.image')],
    ['NFT', nft('token_address', 'token_id')],
    ['Name', text('normalized_metadata.name', NAME_MAX)],
    ['Owner', account('owner_of')],
    ['Amount', text('amount'), 'number'],
    ['Rarity', text('rarity_rank'), 'number'],
  ]),
  listTable('collection-owners', 'Owners', ({ address }) => `/api/v2.2/nft/${address}/owners`, OWNER_COLUMNS),
  listTable('collection-traits', 'Traits', ({ address }) => `/api/v2.2/nft/${address}/traits/paginate`, [
    ['Trait', text('trait_type')],
    ['Value', text('trait_value')],
    ['NFTs', text('count'), 'number'],
    ['Share', share('percentage'), 'number'],
    ['Rarity', text('rarity_label')],
  ]),
  listTable(
    'collection-trades',
    'Collection trades',
    ({ address }) => [`/api/v2.2/nft/${address}/trades`, { marketplace: 'all', nft_metadata: 'false' }],
    TRADE_COLUMNS,
  ),
  listTable(
    'collection-transfers',
    'Collection transfers',
    ({ address }) => `/api/v2.2/nft/${address}/transfers`,
    MOVE_COLUMNS,
  ),
];

export const NFT_TABLES: readonly DataTable[] = [
  recordTable('nft', 'Metadata', ({ address, tokenId }) => `/api/v2.2/nft/${address}/${tokenId}`, [
    [PICTURE, picture('token_address', 'token_id', 'normalized_metadata.image')],
    ['Name', text('normalized_metadata.name')],
    ['Description', text('normalized_metadata.description', 600)],
    ['Collection', contract('token_address', 'name', 'symbol')],
    ['Type', text('contract_type')],
    ['Owner', account('owner_of')],
    ['Amount', text('amount')],
    ['Rarity', text('rarity_rank')],
    ['Minted in block', block('block_number_minted')],
    ['Minted by', account('minter_address')],
    ['Changed in block', block()],
    ['Token URI', text('token_uri')],
    ['Picture URL', text('normalized_metadata.image')],
    ['Last read', time('last_metadata_sync')],
    ['Notes', flags({ verified_collection: 'listed', possible_spam: 'spam?' })],
  ]),
  recordTable(
    'nft-prices',
    'Sale prices, last year, in ether',
    ({ address, tokenId }) => [`/api/v2.2/nft/${address}/${tokenId}/price`, PRICE_QUERY],
    PRICE_COLUMNS,
  ),
  listTable(
    'nft-owners',
    'Owners',
    ({ address, tokenId }) => `/api/v2.2/nft/${address}/${tokenId}/owners`,
    OWNER_COLUMNS,
  ),
  listTable(
    'nft-moves',
    'Transfers',
    ({ address, tokenId }) => `/api/v2.2/nft/${address}/${tokenId}/transfers`,
    MOVE_COLUMNS,
  ),
  listTable(
    'nft-sales',
    'Trades',
    ({ address, tokenId }) => [`/api/v2.2/nft/${address}/${tokenId}/trades`, { nft_metadata: 'false' }],
    TRADE_COLUMNS,
  ),
];
