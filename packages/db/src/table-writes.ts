/**
 * By what kind of writes a table changes: what is to be expected of its dead rows and its size.
 *
 * - `append`: rows are added, and stay. What a reorganisation takes back is little.
 * - `counter`: rows stay, and change in place again and again.
 * - `queue`: rows come and go, or change what an index holds.
 * - `filled`: rows come with little and get the rest later, in place.
 * - `settings`: few rows, that people or slow work change now and then. Postgres' defaults suit them.
 */
export type TableWrites = 'append' | 'counter' | 'queue' | 'filled' | 'settings';

/** Every table by its name. */
export const TABLE_WRITES: Readonly<Record<string, TableWrites | undefined>> = {
  address_labels: 'settings',
  api_keys: 'settings',
  aptos_balance_history: 'append',
  aptos_balances: 'counter',
  aptos_coins: 'settings',
  aptos_networks: 'counter',
  aptos_ranges: 'counter',
  aptos_roots: 'append',
  aptos_transfers: 'append',
  blocks: 'append',
  collection_list_entries: 'settings',
  derived_states: 'counter',
  erc20_transfers: 'append',
  feed_answers: 'append',
  gateway_answers: 'queue',
  gateway_filters: 'queue',
  gateway_heads: 'counter',
  gateway_usage: 'counter',
  historical_jobs: 'counter',
  leases: 'counter',
  locks: 'settings',
  nft_balances: 'queue',
  nft_collections: 'counter',
  nft_holdings: 'counter',
  nft_malformed_logs: 'append',
  nft_metadata_events: 'append',
  nft_sale_days: 'counter',
  nft_token_metadata: 'counter',
  nft_trades: 'append',
  nft_transfers: 'append',
  payment_tokens: 'settings',
  pool_prices: 'append',
  price_feed_phases: 'settings',
  process_work: 'counter',
  punk_bids: 'append',
  schema_migrations: 'settings',
  server_secrets: 'settings',
  spam_list_entries: 'settings',
  stream_addresses: 'settings',
  stream_attempts: 'append',
  stream_deliveries: 'queue',
  stream_match_transactions: 'append',
  stream_matches: 'filled',
  stream_settings: 'settings',
  stream_stats: 'counter',
  streams: 'counter',
  streams_version: 'counter',
  subject_histories: 'counter',
  subject_ranges: 'queue',
  suspect_work: 'settings',
  sync_chains: 'counter',
  sync_claims: 'queue',
  sync_ranges: 'queue',
  token_list_entries: 'settings',
  tokens: 'counter',
  upstream_faults: 'append',
  webhook_health: 'counter',
  webhook_host_leases: 'queue',
};
