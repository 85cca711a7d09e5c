import { networkOfChain } from '@chainstead/aptos';
import { isObject } from '@chainstead/core';
import {
  account,
  amount,
  block,
  type Column,
  change,
  coins,
  contract,
  dollars,
  flags,
  logo,
  NAME_MAX,
  nativeTokens,
  nft,
  nfts,
  number,
  outcome,
  PICTURE,
  picture,
  pool,
  price,
  text,
  time,
  tokens,
  transaction,
} from './cells.ts';
import { type DataTable, listTable, recordTable, resultOf, type TableSubject } from './data-table.ts';

export const ACTIVITY_TABLES: readonly DataTable[] = [
  listTable('history', 'History', ({ address }) => `/api/v2.2/wallets/${address}/history`, [
    ['Time', time()],
    ['Summary', text('summary', 200), 'text'],
    ['Category', text('category')],
    ['To', account('to_address', 'to_address_label')],
    ['Fee', nativeTokens('transaction_fee'), 'number'],
    ['Notes', flags({ possible_spam: 'spam?', category_inferred: 'inferred' })],
    ['Block', block(), 'number'],
    ['Transaction', transaction('hash')],
  ]),
  listTable('transactions', 'Transactions', ({ address }) => `/api/v2.2/${address}`, [
    ['Time', time()],
    ['Value', coins('value'), 'number'],
    ['Method', text('method_label', 60)],
    ['From', account('from_address', 'from_address_label')],
    ['To', account('to_address', 'to_address_label')],
    ['Outcome', outcome()],
    ['Block', block(), 'number'],
    ['Transaction', transaction('hash')],
  ]),
];

const NET_WORTH: DataTable = {
  ...recordTable(
    'net-worth',
    'Value',
    ({ address, chain }) => [`/api/v2.2/wallets/${address}/net-worth`, { chains: chain }],
    // Zero may be an unknown price or balance.
    [
      ['Sum', dollars('networth_usd', '0.00')],
      ['Native balance', dollars('native_balance_usd', '0.00')],
      ['Tokens with a price', dollars('token_balance_usd', '0.00')],
    ],
  ),
  note: ([chain]) =>
    chain.token_balance_usd === chain.token_balance_usd_uncapped
      ? null
      : 'A token counts for at most what its pools can pay out. The table of balances shows its whole balance at the price of the token.',
  rowsOf: (body) => resultOf({ result: isObject(body) ? body.chains : null }),
};

export const ACCOUNT_TABLES: readonly DataTable[] = [
  NET_WORTH,
  listTable('balances', 'Token balances', ({ address }) => `/api/v2.2/wallets/${address}/tokens`, [
    ['Balance', amount('balance', 'decimals', 'symbol'), 'number'],
    ['Value', dollars('usd_value'), 'number'],
    ['Token', contract('token_address', 'symbol', 'name')],
    ['Price', dollars('usd_price'), 'number'],
    ['Name', text('name')],
    ['Notes', flags({ native_token: 'native token', verified_contract: 'listed', possible_spam: 'spam?' })],
  ]),
  ...ACTIVITY_TABLES,
  listTable('erc20-transfers', 'ERC-20 transfers', ({ address }) => `/api/v2.2/${address}/erc20/transfers`, [
    ['Time', time()],
    ['Amount', amount('value', 'token_decimals', 'token_symbol'), 'number'],
    ['From', account('from_address', 'from_address_label')],
    ['To', account('to_address', 'to_address_label')],
    ['Token', contract('address', 'token_symbol', 'token_name')],
    ['Block', block(), 'number'],
    ['Transaction', transaction()],
  ]),
  listTable('swaps', 'Swaps', ({ address }) => `/api/v2.2/wallets/${address}/swaps`, [
    ['Time', time('blockTimestamp')],
    ['Value', dollars('totalValueUsd'), 'number'],
    ['Bought', tokens('bought.amount', 'bought.symbol'), 'number'],
    ['Sold', tokens('sold.amount', 'sold.symbol'), 'number'],
    ['Exchange', text('exchangeName')],
    ['Pool', pool('pairAddress')],
    ['Transaction', transaction('transactionHash', 'blockNumber')],
  ]),
  recordTable(
    'profit',
    'Realized profit',
    ({ address }) => `/api/v2.2/wallets/${address}/profitability/summary`,
    [
      ['Profit', dollars('total_realized_profit_usd')],
      ['In percent of the cost', change('total_realized_profit_percentage')],
      ['Trades', text('total_count_of_trades')],
      ['Bought', dollars('total_bought_volume_usd')],
      ['Sold', dollars('total_sold_volume_usd')],
    ],
  ),
  listTable('nfts', 'NFTs held', ({ address }) => `/api/v2.2/${address}/nft`, [
    [PICTURE, picture('token_address', 'token_id', 'normalized_metadata.image')],
    ['NFT', nft('token_address', 'token_id')],
    ['Name', text('normalized_metadata.name', NAME_MAX)],
    ['Collection', contract('token_address', 'name', 'symbol')],
    ['Amount', text('amount'), 'number'],
    ['Changed in block', block(), 'number'],
    ['Notes', flags({ verified_collection: 'listed', possible_spam: 'spam?' })],
  ]),
  listTable(
    'nft-collections',
    'Collections held',
    ({ address }) => [`/api/v2.2/${address}/nft/collections`, { token_counts: 'true' }],
    [
      ['Logo', logo('token_address', 'collection_logo')],
      ['Collection', contract('token_address', 'name', 'symbol')],
      ['Type', text('contract_type')],
      ['NFTs', text('count'), 'number'],
      ['Notes', flags({ verified_collection: 'listed', possible_spam: 'spam?' })],
    ],
  ),
  listTable('nft-transfers', 'NFT transfers', ({ address }) => `/api/v2.2/${address}/nft/transfers`, [
    ['Time', time()],
    ['NFT', nft('token_address', 'token_id')],
    ['Collection', contract('token_address', 'token_name', 'token_symbol')],
    ['From', account('from_address', 'from_address_label')],
    ['To', account('to_address', 'to_address_label')],
    ['Amount', text('amount'), 'number'],
    ['Block', block(), 'number'],
    ['Transaction', transaction()],
  ]),
  listTable(
    'trades',
    'NFT trades',
    ({ address }) => [`/api/v2.2/wallets/${address}/nfts/trades`, { nft_metadata: 'false' }],
    [
      ['Time', time()],
      ['Price', price('price', 'price_token_address'), 'number'],
      ['NFTs', nfts('token_address', 'token_ids')],
      ['Collection', account('token_address')],
      ['Seller', account('seller_address')],
      ['Buyer', account('buyer_address')],
      ['Transaction', transaction()],
    ],
  ),
  listTable('approvals', 'ERC-20 approvals', ({ address }) => `/api/v2.2/wallets/${address}/approvals`, [
    ['Time', time()],
    ['Allowance', number('value_formatted', 'unlimited'), 'number'],
    ['Token', contract('token.address', 'token.symbol', 'token.name')],
    ['Spender', account('spender.address', 'spender.address_label')],
    ['Notes', flags({ 'token.possible_spam': 'spam?' })],
    ['Transaction', transaction()],
  ]),
];

/** In base units: decimals are in another table. */
export const APTOS_TABLES: readonly DataTable[] = [
  aptosTable('aptos-balances', 'Coin balances', '/wallets/coins', 'owner_addresses', [
    ['Coin', text('coin_type')],
    ['Balance', text('amount'), 'number'],
    ['Changed', time('last_transaction_timestamp')],
    ['Version', text('last_transaction_version'), 'number'],
  ]),
  aptosTable('aptos-transfers', 'Coin transfers', '/wallets/coins/transfers', 'owner_addresses', [
    ['Time', time('transaction_timestamp')],
    ['Activity', text('activity_type')],
    ['Coin', text('coin_type')],
    ['Amount', text('amount'), 'number'],
    ['Function', text('entry_function_id_str')],
    ['Notes', flags({ is_gas_fee: 'gas' })],
    ['Version', text('transaction_version'), 'number'],
  ]),
  aptosTable('aptos-coins', 'Created coins', '/coins/creators', 'creator_addresses', [
    ['Coin', text('coin_type')],
    ['Name', text('name')],
    ['Symbol', text('symbol')],
    ['Decimals', text('decimals'), 'number'],
    ['Created', time('transaction_created_timestamp')],
  ]),
];

function aptosTable(
  name: string,
  title: string,
  path: string,
  owner: string,
  columns: readonly Column[],
): DataTable {
  const target = ({ chain, address }: TableSubject) => {
    return { path, query: { network: networkOfChain(chain) ?? chain, [owner]: address } };
  };
  return { ...listTable(name, title, () => path, columns), target };
}
