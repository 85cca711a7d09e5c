-- What drizzle-kit has no words for: ranges that can't overlap, and the index that rollbacks use.
CREATE EXTENSION IF NOT EXISTS btree_gist;--> statement-breakpoint
ALTER TABLE "sync_ranges" ADD CONSTRAINT "sync_ranges_ordered" CHECK ("first_block" <= "last_block");--> statement-breakpoint
ALTER TABLE "sync_ranges" ADD CONSTRAINT "sync_ranges_disjoint"
  EXCLUDE USING gist ("chain_id" WITH =, "dataset" WITH =, int8range("first_block", "last_block", '[]') WITH &&);--> statement-breakpoint
ALTER TABLE "sync_claims" ADD CONSTRAINT "sync_claims_ordered" CHECK ("first_block" <= "last_block");--> statement-breakpoint
ALTER TABLE "sync_claims" ADD CONSTRAINT "sync_claims_disjoint"
  EXCLUDE USING gist ("chain_id" WITH =, int8range("first_block", "last_block", '[]') WITH &&);--> statement-breakpoint
-- Rollbacks and redone ranges find their rows by block. Head and history interleave in the heap, so the summary of a
-- page range keeps several intervals (minmax_multi) instead of one that would span everything.
CREATE INDEX "erc20_transfers_by_block" ON "erc20_transfers"
  USING brin ("chain_id", "block_number" int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);
