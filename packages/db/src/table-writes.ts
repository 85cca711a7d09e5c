/**
 * By what kind of writes a table changes. `migrations/0022_autovacuum_by_writes.sql` sets each by it, and a test compares.
 *
 * - `append`: rows are added, and stay. What a reorganisation takes back is little.
 * - `counter`: rows stay, and change in place again and again.
 * - `queue`: rows come and go, or change what an index holds.
 * - `settings`: few rows, that people or slow work change now and then. Postgres' defaults suit them.
 */
export type TableWrites = 'append' | 'counter' | 'queue' | 'settings';

/** Shares of a table's rows: so many may be dead until it is vacuumed, or new until its statistics are made anew. */
const SOON_VACUUMED = { autovacuum_vacuum_scale_factor: '0.05', autovacuum_analyze_scale_factor: '0.05' };

/**
 * The storage parameters of each kind. None has a `fillfactor`: where updates can be HOT they are, and where few are, the room costs more
 * than it saves. A partitioned table can't have any: its partitions do.
 */
export const STORAGE_BY_WRITES: Readonly<Record<TableWrites, Readonly<Record<string, string>>>> = {
  // Pages ask for the newest rows: the planner has to know of them, and index-only scans have to find their pages all visible.
  append: { autovacuum_vacuum_insert_scale_factor: '0.05', autovacuum_analyze_scale_factor: '0.02' },
  counter: SOON_VACUUMED,
  queue: SOON_VACUUMED,
  settings: {},
};

/** Every table by its name. */
export const TABLE_WRITES: Readonly<Record<string, TableWrites | undefined>> = {
  account_codes: 'settings',
  account_transactions: 'append',
  address_labels: 'settings',
  api_keys: 'settings',
  api_usage: 'counter',
  aptos_balance_history: 'append',
  aptos_balances: 'counter',
  aptos_coins: 'settings',
  aptos_networks: 'counter',
  aptos_ranges: 'counter',
  aptos_roots: 'append',
  aptos_transfers: 'append',
  audit_log: 'append',
  blocks: 'append',
  chain_samples: 'queue',
  collection_list_entries: 'settings',
  console_sessions: 'counter',
  derived_states: 'counter',
  erc20_approvals: 'append',
  erc20_balance_slots: 'settings',
  erc20_holder_counts: 'counter',
  erc20_holder_minutes: 'counter',
  erc20_holders: 'counter',
  erc20_token_classes: 'settings',
  erc20_token_counts: 'counter',
  erc20_transfers: 'append',
  erc20_wallet_approvals: 'counter',
  erc20_wallet_tokens: 'counter',
  feed_answers: 'append',
  gateway_answers: 'queue',
  gateway_calls: 'queue',
  gateway_filters: 'queue',
  gateway_heads: 'counter',
  gateway_usage: 'counter',
  historical_jobs: 'counter',
  kept_subjects: 'counter',
  leases: 'counter',
  list_revisions: 'settings',
  locks: 'settings',
  native_balances: 'counter',
  nft_collection_balances: 'counter',
  nft_collection_counts: 'counter',
  nft_collection_ids: 'counter',
  nft_collection_owners: 'counter',
  nft_collection_traits: 'counter',
  nft_collections: 'counter',
  nft_malformed_logs: 'append',
  nft_metadata_events: 'append',
  nft_sale_days: 'counter',
  nft_token_metadata: 'counter',
  nft_token_rarity: 'queue',
  nft_trades: 'append',
  nft_trait_counts: 'queue',
  nft_trait_generations: 'queue',
  nft_trait_tokens: 'queue',
  nft_transfers: 'append',
  nft_wallet_collections: 'counter',
  nft_wallet_tokens: 'counter',
  payment_tokens: 'settings',
  pool_prices: 'append',
  price_feed_phases: 'settings',
  process_work: 'counter',
  punk_bids: 'append',
  range_jobs: 'counter',
  rate_spending: 'counter',
  schema_migrations: 'settings',
  server_secrets: 'settings',
  spam_list_entries: 'settings',
  state_questions: 'queue',
  stream_addresses: 'settings',
  stream_attempts: 'append',
  stream_deliveries: 'queue',
  stream_match_transactions: 'append',
  stream_matches: 'queue',
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
  table_samples: 'queue',
  token_list_entries: 'settings',
  tokens: 'counter',
  transaction_facts: 'append',
  transactions: 'append',
  upstream_calls: 'queue',
  upstream_faults: 'append',
  webhook_health: 'counter',
  webhook_host_leases: 'queue',
  wrapped_coin_moves: 'append',
  wrong_answers: 'counter',
};
