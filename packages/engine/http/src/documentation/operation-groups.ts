export const OPERATION_GROUPS: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'Wallets', description: 'Balances, transfers, transactions and statistics of one wallet.' },
  { name: 'Tokens', description: 'Metadata, transfers, owners and holders of ERC-20 tokens.' },
  { name: 'NFTs', description: 'Metadata, transfers, owners and traits of NFTs and collections.' },
  { name: 'NFT trades and prices', description: 'Marketplace trades, sale prices and floor prices of NFTs.' },
  {
    name: 'Blocks and transactions',
    description: 'Blocks, transactions and internal transactions by number, date or hash.',
  },
  { name: 'Contracts', description: 'Logs, decoded events and read-only calls of a contract.' },
  { name: 'Names', description: 'ENS and Unstoppable Domains names, in both directions.' },
  {
    name: 'Streams',
    description: 'Webhooks for matching records of new blocks: streams, their addresses and settings.',
  },
  { name: 'Stream deliveries', description: 'Delivery attempts, statistics and replays of webhooks.' },
  { name: 'Aptos', description: 'Coins, coin transfers and balances of Aptos.' },
  { name: 'JSON-RPC gateway', description: 'Calls to the nodes of a chain, cached and checked.' },
  { name: 'System', description: 'Health, metrics and version of the server.' },
];
