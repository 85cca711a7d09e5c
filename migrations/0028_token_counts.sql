CREATE TABLE "erc20_token_counts" (
	"token" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"transfers" bigint NOT NULL,
	CONSTRAINT "erc20_token_counts_token_chain_id_pk" PRIMARY KEY("token","chain_id")
);
--> statement-breakpoint
-- A migration reads no large table: where there are many transfers, `chainstead indexes` builds it.
DO $$
BEGIN
  IF (SELECT coalesce(sum(pg_relation_size(inhrelid)), 0) FROM pg_inherits WHERE inhparent = 'nft_transfers'::regclass) < 1073741824 THEN
    CREATE INDEX "nft_transfers_by_range" ON "nft_transfers"
      USING btree (address_key(token_address),"block_number","transaction_index","log_index","item") WHERE last_token_id IS NOT NULL;
  END IF;
END
$$;--> statement-breakpoint
ALTER TABLE "erc20_token_counts" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
