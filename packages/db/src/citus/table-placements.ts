/**
 * Where each table's rows lie on a cluster of Citus. `chainstead distribute` goes by it; migrations needn't: a table that one makes is a
 * line here, and the next `distribute` takes it along. A test holds it to the catalog (docs/scaling.md#citus says why each lies where it does).
 */

/**
 * Tables of one group have their rows of the same value on the same node, so that what is asked of a wallet, or of a contract, is asked of
 * one node, and rows of one are joined there. A group has one type of column: keys of eight bytes and whole addresses can't share one.
 *
 * - `account`: rows by `addressKey` of an account.
 * - `wallet`: what is kept of wallets that were asked about, by their address.
 * - `collection`: rows by `addressKey` of an NFT contract.
 * - `contract`: what else is known of an NFT contract, by its address.
 * - `token`: what is kept of ERC-20 contracts that were asked about.
 * - `owner`: Aptos, by the owner's address.
 * - `transaction`: rows by `transactionKey` of a transaction's hash.
 * - `block`: rows by `blockKey` of a block's hash.
 * - `emitter`: rows by `addressKey` of the contract that emitted them.
 */
export type PlacementGroup =
  | 'account'
  | 'wallet'
  | 'collection'
  | 'contract'
  | 'token'
  | 'owner'
  | 'transaction'
  | 'block'
  | 'emitter';

/** In shards, by the hash of a column that each of the table's unique keys holds. */
export interface DistributedPlacement {
  readonly kind: 'distributed';
  readonly column: string;
  readonly group: PlacementGroup;
}

/**
 * `reference`: whole on every node, since pages join it; written seldom, as each write goes to all nodes. `local`: on the coordinator alone.
 */
export type TablePlacement = DistributedPlacement | { readonly kind: 'reference' } | { readonly kind: 'local' };

const by = (group: PlacementGroup, column: string): DistributedPlacement => ({ kind: 'distributed', group, column });
const REFERENCE: TablePlacement = { kind: 'reference' };
const LOCAL: TablePlacement = { kind: 'local' };

/** Every table by its name. */
export const TABLE_PLACEMENTS: Readonly<Record<string, TablePlacement | undefined>> = {
  account_codes: LOCAL,
  account_transactions: by('account', 'account_key'),
  address_labels: REFERENCE,
  api_keys: LOCAL,
  api_usage: LOCAL,
  aptos_balance_history: by('owner', 'owner_address'),
  aptos_balances: by('owner', 'owner_address'),
  aptos_coins: REFERENCE,
  aptos_networks: LOCAL,
  aptos_ranges: LOCAL,
  aptos_roots: LOCAL,
  aptos_transfers: by('owner', 'owner_address'),
  asked_wallets: LOCAL,
  audit_log: LOCAL,
  block_headers: by('block', 'block_key'),
  blocks: LOCAL,
  chain_samples: LOCAL,
  collection_list_entries: REFERENCE,
  contract_abi_entries: REFERENCE,
  contract_codes: REFERENCE,
  contract_implementations: REFERENCE,
  console_sessions: LOCAL,
  contract_reviews: LOCAL,
  derived_states: LOCAL,
  erc20_approvals: by('account', 'owner_key'),
  erc20_balance_slots: LOCAL,
  erc20_holder_counts: by('token', 'token'),
  erc20_holder_minutes: by('token', 'token'),
  erc20_holders: by('token', 'token'),
  erc20_token_classes: REFERENCE,
  erc20_token_counts: by('token', 'token'),
  erc20_transfers: by('account', 'account_key'),
  erc20_wallet_approvals: by('wallet', 'wallet'),
  erc20_wallet_tokens: by('wallet', 'wallet'),
  feed_answers: LOCAL,
  // A cache of bounded size, of which the oldest are looked for among all.
  gateway_answers: LOCAL,
  gateway_calls: LOCAL,
  gateway_filters: LOCAL,
  gateway_heads: LOCAL,
  gateway_usage: LOCAL,
  historical_jobs: LOCAL,
  imported_signatures: REFERENCE,
  kept_subjects: LOCAL,
  internal_transfers: by('account', 'account_key'),
  leases: LOCAL,
  list_revisions: REFERENCE,
  locks: LOCAL,
  logs: by('emitter', 'address_key'),
  native_balances: LOCAL,
  nft_collection_balances: by('contract', 'token_address'),
  nft_collection_counts: by('contract', 'token_address'),
  nft_collection_ids: by('contract', 'token_address'),
  nft_collection_owners: by('contract', 'token_address'),
  nft_collection_traits: LOCAL,
  nft_collections: REFERENCE,
  nft_malformed_logs: by('contract', 'token_address'),
  nft_metadata_events: by('contract', 'token_address'),
  nft_sale_days: by('contract', 'token_address'),
  nft_token_metadata: by('contract', 'token_address'),
  nft_token_rarity: by('contract', 'token_address'),
  nft_trades: by('collection', 'collection_key'),
  nft_trait_counts: by('contract', 'token_address'),
  nft_trait_generations: LOCAL,
  nft_trait_tokens: by('contract', 'token_address'),
  nft_transfers: by('collection', 'collection_key'),
  nft_wallet_collections: by('wallet', 'wallet'),
  nft_wallet_tokens: by('wallet', 'wallet'),
  payment_tokens: REFERENCE,
  pool_prices: LOCAL,
  price_feed_phases: LOCAL,
  process_work: LOCAL,
  punk_bids: by('contract', 'token_address'),
  range_jobs: LOCAL,
  rate_spending: LOCAL,
  resolved_names: LOCAL,
  schema_migrations: LOCAL,
  server_secrets: LOCAL,
  spam_list_entries: REFERENCE,
  state_questions: LOCAL,
  stream_addresses: LOCAL,
  stream_attempts: LOCAL,
  stream_deliveries: LOCAL,
  stream_match_transactions: LOCAL,
  stream_matches: LOCAL,
  stream_settings: LOCAL,
  stream_stats: LOCAL,
  streams: LOCAL,
  streams_version: LOCAL,
  subject_histories: LOCAL,
  subject_ranges: LOCAL,
  suspect_work: LOCAL,
  sync_chains: LOCAL,
  sync_claims: LOCAL,
  sync_ranges: LOCAL,
  table_samples: LOCAL,
  token_list_entries: REFERENCE,
  tokens: REFERENCE,
  transaction_facts: LOCAL,
  transactions: by('transaction', 'transaction_key'),
  upstream_calls: LOCAL,
  upstream_faults: LOCAL,
  wallet_counts: LOCAL,
  wallet_watches: LOCAL,
  webhook_health: LOCAL,
  webhook_host_leases: LOCAL,
  wrapped_coin_moves: by('account', 'account_key'),
  wrong_answers: LOCAL,
};
