import type { Pool, PoolClient } from 'pg';
import { type Sql, sql } from '../sql.ts';
import { DATASET_TABLES } from '../tables/dataset-tables.ts';
import { distributedBy, LOCAL, REFERENCE, type TablePlacement } from '../tables/table-storage.ts';

/** Reasons: docs/operate/citus.md#table-placement. Datasets' tables come from their schema.ts. */
export const TABLE_PLACEMENTS: Readonly<Record<string, TablePlacement | undefined>> = {
  ...Object.fromEntries(Object.entries(DATASET_TABLES).map(([table, { placement }]) => [table, placement])),
  account_codes: LOCAL,
  address_labels: REFERENCE,
  api_keys: LOCAL,
  api_usage: LOCAL,
  aptos_balance_history: distributedBy('owner', 'owner_address'),
  aptos_balances: distributedBy('owner', 'owner_address'),
  aptos_coins: REFERENCE,
  aptos_networks: LOCAL,
  aptos_ranges: LOCAL,
  aptos_roots: LOCAL,
  aptos_transfers: distributedBy('owner', 'owner_address'),
  tracked_wallets: LOCAL,
  audit_log: LOCAL,
  blocks: LOCAL,
  chain_metrics_minutely: LOCAL,
  changed_decimals: LOCAL,
  collection_list_entries: REFERENCE,
  contract_abi_entries: REFERENCE,
  contract_codes: REFERENCE,
  contract_implementations: REFERENCE,
  console_sessions: LOCAL,
  contract_reviews: LOCAL,
  projections: LOCAL,
  dataset_failures: LOCAL,
  deferred_matches: LOCAL,
  erc20_balance_slots: LOCAL,
  erc20_token_classes: REFERENCE,
  contract_definitions: LOCAL,
  removed_contract_tables: LOCAL,
  feed_readings: LOCAL,
  gateway_answers: LOCAL,
  gateway_calls: LOCAL,
  gateway_filters: LOCAL,
  gateway_heads: LOCAL,
  gateway_usage: LOCAL,
  head_reports: LOCAL,
  historical_jobs: LOCAL,
  imported_signatures: REFERENCE,
  subject_projections: LOCAL,
  leases: LOCAL,
  list_revisions: REFERENCE,
  transaction_locks: LOCAL,
  native_balances: LOCAL,
  nft_collection_traits: LOCAL,
  nft_collections: REFERENCE,
  nft_token_metadata: distributedBy('contract', 'token_address'),
  nft_token_rarity: distributedBy('contract', 'token_address'),
  nft_trait_counts: distributedBy('contract', 'token_address'),
  nft_trait_generations: LOCAL,
  nft_trait_tokens: distributedBy('contract', 'token_address'),
  payment_tokens: REFERENCE,
  price_feed_phases: LOCAL,
  inflight_work: LOCAL,
  range_jobs: LOCAL,
  rate_limit_usage: LOCAL,
  resolved_names: LOCAL,
  schema_migrations: LOCAL,
  server_secrets: LOCAL,
  spam_list_entries: REFERENCE,
  state_questions: LOCAL,
  stream_addresses: LOCAL,
  stream_attempts: LOCAL,
  stream_deliveries: LOCAL,
  stream_items: LOCAL,
  stream_match_transactions: LOCAL,
  stream_matches: LOCAL,
  stream_settings: LOCAL,
  stream_stats: LOCAL,
  streams: LOCAL,
  streams_version: LOCAL,
  backfill_requests: LOCAL,
  rewritten_ranges: LOCAL,
  subject_ranges: LOCAL,
  quarantined_work: LOCAL,
  sync_chains: LOCAL,
  sync_claims: LOCAL,
  sync_ranges: LOCAL,
  table_sizes_hourly: LOCAL,
  token_list_entries: REFERENCE,
  tokens: REFERENCE,
  transaction_facts: LOCAL,
  upstream_calls: LOCAL,
  upstream_errors: LOCAL,
  wallet_scan_state: LOCAL,
  webhook_health: LOCAL,
  webhook_host_leases: LOCAL,
  upstream_mismatches: LOCAL,
};

interface SpreadSource {
  query<Row extends object>(statement: Sql): Promise<readonly Row[]>;
  readonly client?: PoolClient;
  readonly pool?: Pool;
}

export const IS_CITUS = sql`to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL`;

const spreadBy = new WeakSet<object>();

/** Caches only a yes: those writes work on one server too, but a no may become a yes. */
export async function isSpread(source: SpreadSource): Promise<boolean> {
  const by = source.client ?? source.pool;
  if (by !== undefined && spreadBy.has(by)) return true;
  const [server] = await source.query<{ isCitus: boolean }>(sql`SELECT ${IS_CITUS} AS "isCitus"`);
  if (server?.isCitus !== true) return false;
  const some = await source.query(
    sql`SELECT FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid
      WHERE relname = ANY(${PLACED}::text[]) AND relnamespace = current_schema()::regnamespace LIMIT 1`,
  );
  if (some.length > 0 && by !== undefined) spreadBy.add(by);
  return some.length > 0;
}

const PLACED: readonly string[] = Object.entries(TABLE_PLACEMENTS).flatMap(([table, placement]) =>
  placement === undefined || placement.kind === 'local' ? [] : [table],
);
