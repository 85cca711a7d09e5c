DROP INDEX "nft_collection_ids_by_hash";--> statement-breakpoint
ALTER TABLE "nft_collection_ids" ADD COLUMN "last_block" integer NOT NULL;--> statement-breakpoint
ALTER TABLE "nft_collection_ids" ADD COLUMN "newest" integer[];--> statement-breakpoint
ALTER TABLE "nft_collection_ids" ADD COLUMN "receiver" "bytea";--> statement-breakpoint
ALTER TABLE "nft_collection_ids" ADD COLUMN "is_held" boolean GENERATED ALWAYS AS (CASE WHEN receiver IS NULL THEN holders > 0 ELSE receiver <> decode('0000000000000000000000000000000000000000', 'hex') END) STORED;--> statement-breakpoint
CREATE INDEX "nft_collection_balances_by_id" ON "nft_collection_balances" USING btree ("token_address","chain_id","token_id","last_block","owner") WHERE amount > 0;--> statement-breakpoint
CREATE INDEX "nft_collection_ids_by_change" ON "nft_collection_ids" USING btree ("token_address","chain_id","last_block","token_id") WHERE is_held;--> statement-breakpoint
CREATE INDEX "nft_collection_ids_by_hash" ON "nft_collection_ids" USING btree ("token_address","chain_id","token_hash") WHERE is_held;