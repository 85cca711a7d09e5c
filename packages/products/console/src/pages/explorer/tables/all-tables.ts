import { networkOfChain } from '@chainstead/aptos';
import {
  account,
  amount,
  block,
  type Column,
  coins,
  contract,
  flags,
  logo,
  nft,
  nfts,
  outcome,
  picture,
  price,
  text,
  time,
  transaction,
} from './cells.ts';
import { type DataTable, listTable, recordTable, type TableSubject } from './data-table.ts';

export const ACTIVITY_TABLES: readonly DataTable[] = [
  listTable('history', 'History', ({ address }) => `/api/v2.2/wallets/${address}/history`, [
    { title: 'Time', cell: time() },
    { title: 'Category', cell: text('category') },
    { title: 'Summary', cell: text('summary', 200), isLong: true },
    { title: 'To', cell: account('to_address', 'to_address_label') },
    { title: 'Fee', cell: text('transaction_fee'), isNumber: true },
    { title: 'Notes', cell: flags({ possible_spam: 'spam?', category_inferred: 'inferred' }) },
    { title: 'Block', cell: block(), isNumber: true },
    { title: 'Transaction', cell: transaction('hash') },
  ]),
  listTable('transactions', 'Transactions', ({ address }) => `/api/v2.2/${address}`, [
    { title: 'Time', cell: time() },
    { title: 'Method', cell: text('method_label', 60) },
    { title: 'From', cell: account('from_address', 'from_address_label') },
    { title: 'To', cell: account('to_address', 'to_address_label') },
    { title: 'Value', cell: coins('value'), isNumber: true },
    { title: 'Outcome', cell: outcome() },
    { title: 'Block', cell: block(), isNumber: true },
    { title: 'Transaction', cell: transaction('hash') },
  ]),
];

export const ACCOUNT_TABLES: readonly DataTable[] = [
  listTable('balances', 'Token balances', ({ address }) => `/api/v2.2/wallets/${address}/tokens`, [
    { title: 'Token', cell: contract('token_address', 'symbol', 'name') },
    { title: 'Name', cell: text('name') },
    { title: 'Balance', cell: amount('balance', 'decimals', 'symbol'), isNumber: true },
    {
      title: 'Notes',
      cell: flags({ native_token: 'native token', verified_contract: 'listed', possible_spam: 'spam?' }),
    },
  ]),
  ...ACTIVITY_TABLES,
  listTable('erc20-transfers', 'ERC-20 transfers', ({ address }) => `/api/v2.2/${address}/erc20/transfers`, [
    { title: 'Time', cell: time() },
    { title: 'Token', cell: contract('address', 'token_symbol', 'token_name') },
    { title: 'From', cell: account('from_address', 'from_address_label') },
    { title: 'To', cell: account('to_address', 'to_address_label') },
    { title: 'Amount', cell: amount('value', 'token_decimals', 'token_symbol'), isNumber: true },
    { title: 'Block', cell: block(), isNumber: true },
    { title: 'Transaction', cell: transaction() },
  ]),
  listTable('nfts', 'NFTs held', ({ address }) => `/api/v2.2/${address}/nft`, [
    { title: 'Picture', cell: picture('token_address', 'token_id', 'normalized_metadata.image') },
    { title: 'NFT', cell: nft('token_address', 'token_id') },
    { title: 'Name', cell: text('normalized_metadata.name') },
    { title: 'Collection', cell: contract('token_address', 'name', 'symbol') },
    { title: 'Amount', cell: text('amount'), isNumber: true },
    { title: 'Changed in block', cell: block(), isNumber: true },
    { title: 'Notes', cell: flags({ verified_collection: 'listed', possible_spam: 'spam?' }) },
  ]),
  listTable(
    'nft-collections',
    'Collections held',
    ({ address }) => [`/api/v2.2/${address}/nft/collections`, { token_counts: 'true' }],
    [
      { title: 'Logo', cell: logo('token_address', 'collection_logo') },
      { title: 'Collection', cell: contract('token_address', 'name', 'symbol') },
      { title: 'Type', cell: text('contract_type') },
      { title: 'NFTs', cell: text('count'), isNumber: true },
      { title: 'Notes', cell: flags({ verified_collection: 'listed', possible_spam: 'spam?' }) },
    ],
  ),
  listTable('nft-transfers', 'NFT transfers', ({ address }) => `/api/v2.2/${address}/nft/transfers`, [
    { title: 'Time', cell: time() },
    { title: 'NFT', cell: nft('token_address', 'token_id') },
    { title: 'Collection', cell: contract('token_address', 'token_name', 'token_symbol') },
    { title: 'From', cell: account('from_address', 'from_address_label') },
    { title: 'To', cell: account('to_address', 'to_address_label') },
    { title: 'Amount', cell: text('amount'), isNumber: true },
    { title: 'Block', cell: block(), isNumber: true },
    { title: 'Transaction', cell: transaction() },
  ]),
  listTable(
    'trades',
    'NFT trades',
    ({ address }) => [`/api/v2.2/wallets/${address}/nfts/trades`, { nft_metadata: 'false' }],
    [
      { title: 'Time', cell: time() },
      { title: 'NFTs', cell: nfts('token_address', 'token_ids') },
      { title: 'Collection', cell: account('token_address') },
      { title: 'Seller', cell: account('seller_address') },
      { title: 'Buyer', cell: account('buyer_address') },
      { title: 'Price', cell: price('price', 'price_token_address'), isNumber: true },
      { title: 'Transaction', cell: transaction() },
    ],
  ),
  listTable('approvals', 'ERC-20 approvals', ({ address }) => `/api/v2.2/wallets/${address}/approvals`, [
    { title: 'Time', cell: time() },
    { title: 'Token', cell: contract('token.address', 'token.symbol', 'token.name') },
    { title: 'Spender', cell: account('spender.address', 'spender.address_label') },
    { title: 'Allowance', cell: text('value_formatted'), isNumber: true },
    { title: 'Notes', cell: flags({ unlimited: 'unlimited', 'token.possible_spam': 'spam?' }) },
    { title: 'Transaction', cell: transaction() },
  ]),
];

const TRADE_COLUMNS = [
  { title: 'Time', cell: time() },
  { title: 'NFTs', cell: nfts('token_address', 'token_ids') },
  { title: 'Seller', cell: account('seller_address') },
  { title: 'Buyer', cell: account('buyer_address') },
  { title: 'Price', cell: price('price', 'price_token_address'), isNumber: true },
  { title: 'Marketplace', cell: account('marketplace_address') },
  { title: 'Transaction', cell: transaction() },
];

const MOVE_COLUMNS = [
  { title: 'Time', cell: time() },
  { title: 'NFT', cell: nft('token_address', 'token_id') },
  { title: 'From', cell: account('from_address', 'from_address_label') },
  { title: 'To', cell: account('to_address', 'to_address_label') },
  { title: 'Amount', cell: text('amount'), isNumber: true },
  { title: 'Block', cell: block(), isNumber: true },
  { title: 'Transaction', cell: transaction() },
];

const OWNER_COLUMNS = [
  { title: 'Owner', cell: account('owner_of') },
  { title: 'NFT', cell: nft('token_address', 'token_id') },
  { title: 'Amount', cell: text('amount'), isNumber: true },
  { title: 'Since block', cell: block(), isNumber: true },
];

const PRICE_COLUMNS = [
  { title: 'Sales', cell: text('total_trades') },
  { title: 'Last price', cell: amount('last_sale.price', 18) },
  { title: 'Last sale', cell: time('last_sale.block_timestamp') },
  { title: 'Lowest price', cell: amount('lowest_sale.price', 18) },
  { title: 'Average price', cell: amount('average_sale.price', 18) },
  { title: 'Highest price', cell: amount('highest_sale.price', 18) },
  { title: 'Note', cell: text('message') },
];

const PRICE_QUERY = { days: '365', include_weth: 'true' };

export const TOKEN_TABLES: readonly DataTable[] = [
  recordTable('token', 'Token', ({ address }) => ['/api/v2.2/erc20/metadata', { addresses: address }], [
    { title: 'Name', cell: text('name') },
    { title: 'Symbol', cell: text('symbol') },
    { title: 'Decimals', cell: text('decimals') },
    { title: 'Total supply', cell: amount('total_supply', 'decimals', 'symbol') },
    { title: 'Created in block', cell: block() },
    { title: 'Created at', cell: time('created_at') },
    { title: 'Label', cell: text('address_label') },
    { title: 'Notes', cell: flags({ verified_contract: 'listed', possible_spam: 'spam?' }) },
  ]),
  listTable('token-transfers', 'Token transfers', ({ address }) => `/api/v2.2/erc20/${address}/transfers`, [
    { title: 'Time', cell: time() },
    { title: 'From', cell: account('from_address', 'from_address_label') },
    { title: 'To', cell: account('to_address', 'to_address_label') },
    { title: 'Amount', cell: amount('value', 'token_decimals', 'token_symbol'), isNumber: true },
    { title: 'Block', cell: block(), isNumber: true },
    { title: 'Transaction', cell: transaction() },
  ]),
  listTable('token-holders', 'Token holders', ({ address }) => `/api/v2.2/erc20/${address}/owners`, [
    { title: 'Holder', cell: account('owner_address', 'owner_address_label') },
    { title: 'Balance', cell: text('balance_formatted'), isNumber: true },
    { title: '% of supply', cell: text('percentage_relative_to_total_supply'), isNumber: true },
    { title: 'Notes', cell: flags({ is_contract: 'contract' }) },
  ]),
];

export const COLLECTION_TABLES: readonly DataTable[] = [
  recordTable('collection', 'Collection', ({ address }) => `/api/v2.2/nft/${address}/metadata`, [
    { title: 'Logo', cell: logo('token_address', 'collection_logo') },
    { title: 'Name', cell: text('name') },
    { title: 'Symbol', cell: text('symbol') },
    { title: 'Type', cell: text('contract_type') },
    { title: 'Category', cell: text('collection_category') },
    { title: 'Website', cell: text('project_url') },
    { title: 'Base URI', cell: text('base_uri') },
    { title: 'Last read', cell: time('synced_at') },
    { title: 'Notes', cell: flags({ verified_collection: 'listed', possible_spam: 'spam?' }) },
  ]),
  recordTable('collection-stats', 'Counts', ({ address }) => `/api/v2.2/nft/${address}/stats`, [
    { title: 'NFTs', cell: text('total_tokens') },
    { title: 'Owners', cell: text('owners.current') },
    { title: 'Transfers', cell: text('transfers.total') },
  ]),
  recordTable(
    'collection-prices',
    'Sale prices, last year, in ether',
    ({ address }) => [`/api/v2.2/nft/${address}/price`, PRICE_QUERY],
    PRICE_COLUMNS,
  ),
  listTable('collection-nfts', 'Collection NFTs', ({ address }) => `/api/v2.2/nft/${address}`, [
    { title: 'Picture', cell: picture('token_address', 'token_id', 'normalized_metadata.image') },
    { title: 'NFT', cell: nft('token_address', 'token_id') },
    { title: 'Name', cell: text('normalized_metadata.name') },
    { title: 'Owner', cell: account('owner_of') },
    { title: 'Amount', cell: text('amount'), isNumber: true },
    { title: 'Rarity', cell: text('rarity_rank'), isNumber: true },
  ]),
  listTable('collection-owners', 'Owners', ({ address }) => `/api/v2.2/nft/${address}/owners`, OWNER_COLUMNS),
  listTable('collection-traits', 'Traits', ({ address }) => `/api/v2.2/nft/${address}/traits/paginate`, [
    { title: 'Trait', cell: text('trait_type') },
    { title: 'Value', cell: text('trait_value') },
    { title: 'NFTs', cell: text('count'), isNumber: true },
    { title: '%', cell: text('percentage'), isNumber: true },
    { title: 'Rarity', cell: text('rarity_label') },
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
    { title: 'Picture', cell: picture('token_address', 'token_id', 'normalized_metadata.image') },
    { title: 'Name', cell: text('normalized_metadata.name') },
    { title: 'Description', cell: text('normalized_metadata.description', 600) },
    { title: 'Collection', cell: contract('token_address', 'name', 'symbol') },
    { title: 'Type', cell: text('contract_type') },
    { title: 'Owner', cell: account('owner_of') },
    { title: 'Amount', cell: text('amount') },
    { title: 'Rarity', cell: text('rarity_rank') },
    { title: 'Minted in block', cell: block('block_number_minted') },
    { title: 'Minted by', cell: account('minter_address') },
    { title: 'Changed in block', cell: block() },
    { title: 'Token URI', cell: text('token_uri') },
    { title: 'Picture URL', cell: text('normalized_metadata.image') },
    { title: 'Last read', cell: time('last_metadata_sync') },
    { title: 'Notes', cell: flags({ verified_collection: 'listed', possible_spam: 'spam?' }) },
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

/** In base units: decimals are in another table. */
export const APTOS_TABLES: readonly DataTable[] = [
  aptosTable('aptos-balances', 'Coin balances', '/wallets/coins', 'owner_addresses', [
    { title: 'Coin', cell: text('coin_type') },
    { title: 'Balance', cell: text('amount'), isNumber: true },
    { title: 'Changed', cell: time('last_transaction_timestamp') },
    { title: 'Version', cell: text('last_transaction_version'), isNumber: true },
  ]),
  aptosTable('aptos-transfers', 'Coin transfers', '/wallets/coins/transfers', 'owner_addresses', [
    { title: 'Time', cell: time('transaction_timestamp') },
    { title: 'Activity', cell: text('activity_type') },
    { title: 'Coin', cell: text('coin_type') },
    { title: 'Amount', cell: text('amount'), isNumber: true },
    { title: 'Function', cell: text('entry_function_id_str') },
    { title: 'Notes', cell: flags({ is_gas_fee: 'gas' }) },
    { title: 'Version', cell: text('transaction_version'), isNumber: true },
  ]),
  aptosTable('aptos-coins', 'Created coins', '/coins/creators', 'creator_addresses', [
    { title: 'Coin', cell: text('coin_type') },
    { title: 'Name', cell: text('name') },
    { title: 'Symbol', cell: text('symbol') },
    { title: 'Decimals', cell: text('decimals'), isNumber: true },
    { title: 'Created', cell: time('transaction_created_timestamp') },
  ]),
];

function aptosTable(name: string, title: string, path: string, owner: string, columns: readonly Column[]): DataTable {
  const target = ({ chain, address }: TableSubject) => {
    return { path, query: { network: networkOfChain(chain) ?? chain, [owner]: address } };
  };
  return { ...listTable(name, title, () => path, columns), target };
}
