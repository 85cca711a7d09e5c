export interface CuratedOperation {
  readonly tool: string;
  readonly operationId: string;
  readonly description: string;
  /** Query parameters of each call. */
  readonly fixed?: Readonly<Record<string, string>>;
}

const EXPLANATION: CuratedOperation = {
  tool: 'token_price_explanation',
  operationId: 'getTokenPrice',
  description: 'Why a token has its price, or none: the exact price, and the pools that were considered.',
  fixed: { explain: 'true' },
};

/** Few, since each description uses up the context of agents. */
export const CURATED_OPERATIONS: readonly CuratedOperation[] = [
  [
    'wallet_balances',
    'getWalletTokenBalancesPrice',
    'Balances of a wallet on one chain, with prices in US dollars.',
  ],
  ['wallet_net_worth', 'getWalletNetWorth', 'Value of all tokens of a wallet in US dollars, by chain.'],
  [
    'wallet_history',
    'getWalletHistory',
    'Activity of a wallet: transactions, newest first, with category, summary and transfers.',
  ],
  ['wallet_token_transfers', 'getWalletTokenTransfers', 'ERC-20 transfers from and to a wallet.'],
  ['wallet_nfts', 'getWalletNFTs', 'NFTs that a wallet owns.'],
  ['wallet_swaps', 'getSwapsByWalletAddress', 'Swaps of a wallet on exchanges: tokens bought and sold.'],
  ['wallet_profit', 'getWalletProfitabilitySummary', 'Realized profit or loss of a wallet from swaps.'],
  ['wallet_approvals', 'getWalletApprovals', 'ERC-20 approvals that a wallet has given.'],
  ['token_search', 'searchTokens', 'Tokens by name, symbol or address. Use it first if you have no address.'],
  ['token_metadata', 'getTokenMetadata', 'Name, symbol, decimals and supply of tokens.'],
  ['token_price', 'getTokenPrice', 'Price of a token in US dollars, now or at a block.'],
  ['token_holders', 'getTokenOwners', 'Top holders of a token with their balances, largest first.'],
  ['token_holder_count', 'getTokenHolders', 'Number of holders of a token, shares of the largest, and changes.'],
  ['token_transfers', 'getTokenTransfers', 'Transfers of one ERC-20 token, of all wallets.'],
  ['token_swaps', 'getSwapsByTokenAddress', 'Single swaps of a token in all its pools.'],
  ['token_top_gainers', 'getTopProfitableWalletPerToken', 'Wallets with the highest realized profit in a token.'],
  ['token_analytics', 'getTokenAnalytics', 'Buys, sells, volume and liquidity of a token in recent periods.'],
  ['token_pairs', 'getTokenPairs', 'Pools in which a token trades, with liquidity and volume.'],
  ['pair_candles', 'getPairCandlesticks', 'Open, high, low and close prices of a pool, with volume.'],
  ['nft_collection', 'getNFTContractMetadata', 'Name, symbol, type and owner of an NFT collection.'],
  ['nft_metadata', 'getNFTMetadata', 'Metadata of one NFT: name, picture and attributes.'],
  ['nft_owners', 'getNFTOwners', 'NFTs of a collection with their owners.'],
  ['nft_trades', 'getNFTTrades', 'Marketplace trades of an NFT collection with prices.'],
  ['transaction', 'getTransactionVerbose', 'A transaction by hash, with its logs and decoded call.'],
  ['block', 'getBlock', 'A block by number or hash, with its transactions.'],
  ['block_at_date', 'getDateToBlock', 'The block closest to a date.'],
  ['contract_logs', 'getContractLogs', 'Event logs of a contract, filtered by topics.'],
  ['resolve_name', 'resolveENSDomain', 'Address of an ENS name.'],
  ['own_contracts', 'getOwnContracts', 'Contracts that the operator indexes, with their events and columns.'],
  ['own_contract_events', 'getOwnContractEvents', 'Decoded events of such a contract, named by own_contracts.'],
]
  .map(
    ([tool = '', operationId = '', description = '']): CuratedOperation => ({ tool, operationId, description }),
  )
  .concat(EXPLANATION);
