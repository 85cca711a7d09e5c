-- Each table by its kind of writes (packages/db table-writes.ts). Rewrites nothing.
--
-- Partitioned tables can have no such settings: their partitions get them when they are made. Otherwise as in 0019.
CREATE OR REPLACE FUNCTION "attach_partition"(parent regclass, chain_id bigint, from_block integer, to_block integer) RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  part text;
BEGIN
  SELECT format('%I.%I', relnamespace::regnamespace, format('%s_%s_%s', relname, chain_id, from_block)) INTO STRICT part
    FROM pg_class WHERE oid = parent AND relkind = 'p';
  EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
    WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02)', part, parent);
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s, %s) TO (%s, %s)',
    parent, part, chain_id, from_block, chain_id, coalesce(to_block::text, 'MAXVALUE'));
  RETURN part;
END
$$;--> statement-breakpoint
DO $$
DECLARE
  part regclass;
BEGIN
  FOR part IN
    SELECT inhrelid FROM pg_inherits WHERE inhparent IN ('erc20_transfers'::regclass, 'nft_transfers'::regclass, 'nft_trades'::regclass)
  LOOP
    EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02)', part);
  END LOOP;
END
$$;--> statement-breakpoint
ALTER TABLE "aptos_balance_history" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "aptos_roots" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "aptos_transfers" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "blocks" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "feed_answers" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "nft_malformed_logs" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "nft_metadata_events" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "pool_prices" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "punk_bids" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "stream_attempts" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "stream_match_transactions" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "upstream_faults" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);--> statement-breakpoint
ALTER TABLE "aptos_balances" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "aptos_networks" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "aptos_ranges" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "derived_states" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "gateway_heads" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "gateway_usage" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "historical_jobs" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "leases" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_collections" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_holdings" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_sale_days" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_token_metadata" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "process_work" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "stream_stats" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "streams" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "streams_version" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "subject_histories" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "sync_chains" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "tokens" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "webhook_health" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "gateway_answers" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "gateway_filters" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_balances" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "stream_deliveries" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "stream_matches" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "subject_ranges" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "sync_claims" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "sync_ranges" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "webhook_host_leases" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
