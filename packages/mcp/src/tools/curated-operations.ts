/** An operation of the API that agents can call. */
export interface CuratedOperation {
  /** Name of the tool. */
  readonly tool: string;
  readonly operationId: string;
  readonly description: string;
}

/** A selection: agents choose well among few tools, and each description uses up their context. */
export const CURATED_OPERATIONS: readonly CuratedOperation[] = [
  {
    tool: 'wallet_balances',
    operationId: 'getWalletTokenBalancesPrice',
    description: 'Native and ERC-20 balances of a wallet on one chain, with prices in US dollars.',
  },
  {
    tool: 'wallet_net_worth',
    operationId: 'getWalletNetWorth',
    description: 'Value of all tokens of a wallet in US dollars, by chain.',
  },
  {
    tool: 'wallet_history',
    operationId: 'getWalletHistory',
    description: 'Transactions of a wallet, newest first, each with a category, a summary and its transfers.',
  },
  {
    tool: 'wallet_token_transfers',
    operationId: 'getWalletTokenTransfers',
    description: 'ERC-20 transfers from and to a wallet.',
  },
  { tool: 'wallet_nfts', operationId: 'getWalletNFTs', description: 'NFTs that a wallet owns.' },
  {
    tool: 'wallet_swaps',
    operationId: 'getSwapsByWalletAddress',
    description: 'Swaps of a wallet on decentralized exchanges: tokens bought and sold.',
  },
  {
    tool: 'wallet_profit',
    operationId: 'getWalletProfitabilitySummary',
    description: 'Realized profit or loss of a wallet from swaps, in US dollars.',
  },
  {
    tool: 'wallet_approvals',
    operationId: 'getWalletApprovals',
    description: 'ERC-20 approvals that a wallet has given, with the amount at risk.',
  },
  {
    tool: 'token_search',
    operationId: 'searchTokens',
    description: 'Tokens by name, symbol or address. Use it first if you have no contract address.',
  },
  {
    tool: 'token_metadata',
    operationId: 'getTokenMetadata',
    description: 'Name, symbol, decimals and supply of token contracts.',
  },
  {
    tool: 'token_price',
    operationId: 'getTokenPrice',
    description: 'Price of a token in US dollars, now or at a block.',
  },
  {
    tool: 'token_holders',
    operationId: 'getTokenOwners',
    description: 'Holders of a token with their balances, largest first.',
  },
  {
    tool: 'token_transfers',
    operationId: 'getTokenTransfers',
    description: 'Transfers of one ERC-20 token, of all wallets.',
  },
  {
    tool: 'token_swaps',
    operationId: 'getSwapsByTokenAddress',
    description: 'Swaps of a token in all its pools.',
  },
  {
    tool: 'token_analytics',
    operationId: 'getTokenAnalytics',
    description: 'Buys, sells, volume and liquidity of a token in recent periods.',
  },
  {
    tool: 'token_pairs',
    operationId: 'getTokenPairs',
    description: 'Pools in which a token trades, with liquidity and volume.',
  },
  {
    tool: 'pair_candles',
    operationId: 'getPairCandlesticks',
    description: 'Open, high, low and close prices of a pool with volume, in periods from one second to one month.',
  },
  {
    tool: 'nft_collection',
    operationId: 'getNFTContractMetadata',
    description: 'Name, symbol, type and owner of an NFT collection.',
  },
  {
    tool: 'nft_metadata',
    operationId: 'getNFTMetadata',
    description: 'Metadata of one NFT: name, picture and attributes.',
  },
  {
    tool: 'nft_owners',
    operationId: 'getNFTOwners',
    description: 'NFTs of a collection with their owners.',
  },
  {
    tool: 'nft_trades',
    operationId: 'getNFTTrades',
    description: 'Marketplace trades of an NFT collection with prices.',
  },
  {
    tool: 'transaction',
    operationId: 'getTransactionVerbose',
    description: 'A transaction by hash, with its logs and decoded call.',
  },
  { tool: 'block', operationId: 'getBlock', description: 'A block by number or hash, with its transactions.' },
  {
    tool: 'block_at_date',
    operationId: 'getDateToBlock',
    description: 'The block closest to a date. Use it to turn dates into block numbers.',
  },
  {
    tool: 'contract_logs',
    operationId: 'getContractLogs',
    description: 'Event logs of a contract, filtered by topics.',
  },
  { tool: 'resolve_name', operationId: 'resolveENSDomain', description: 'Address of an ENS name.' },
  {
    tool: 'own_contracts',
    operationId: 'getOwnContracts',
    description: 'Contracts that the operator indexes, with their events and columns.',
  },
  {
    tool: 'own_contract_events',
    operationId: 'getOwnContractEvents',
    description: 'Decoded events of a contract that the operator indexes. The tool own_contracts lists their names.',
  },
];
