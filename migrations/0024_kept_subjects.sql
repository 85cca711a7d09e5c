CREATE TABLE "kept_subjects" (
	"chain_id" bigint NOT NULL,
	"state" text NOT NULL,
	"subject" "bytea" NOT NULL,
	"built_to" bigint,
	"is_stale" boolean DEFAULT false NOT NULL,
	"rows" bigint DEFAULT 0 NOT NULL,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "kept_subjects_subject_chain_id_state_pk" PRIMARY KEY("subject","chain_id","state")
);
--> statement-breakpoint
CREATE TABLE "nft_wallet_collections" (
	"wallet" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token_address" "bytea" NOT NULL,
	"ids_held" bigint NOT NULL,
	CONSTRAINT "nft_wallet_collections_wallet_chain_id_token_address_pk" PRIMARY KEY("wallet","chain_id","token_address")
);
--> statement-breakpoint
CREATE TABLE "nft_wallet_tokens" (
	"wallet" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token_address" "bytea" NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"amount" numeric NOT NULL,
	"last_block" integer NOT NULL,
	CONSTRAINT "nft_wallet_tokens_wallet_chain_id_token_address_token_id_pk" PRIMARY KEY("wallet","chain_id","token_address","token_id")
);
--> statement-breakpoint
CREATE INDEX "kept_subjects_by_state" ON "kept_subjects" USING btree ("chain_id","state","asked_at");--> statement-breakpoint
CREATE INDEX "nft_wallet_tokens_by_change" ON "nft_wallet_tokens" USING btree ("wallet","chain_id","last_block","token_address","token_id") WHERE amount > 0;--> statement-breakpoint
-- A migration builds no large index: where there are many transfers, `chainstead indexes` builds these.
DO $$
BEGIN
  IF (SELECT coalesce(sum(pg_relation_size(inhrelid)), 0) FROM pg_inherits WHERE inhparent = 'nft_transfers'::regclass) < 1073741824 THEN
    CREATE INDEX "nft_transfers_by_sender" ON "nft_transfers"
      USING btree (address_key("from_address"), "block_number", "transaction_index", "log_index", "item");
    CREATE INDEX "nft_transfers_by_recipient" ON "nft_transfers"
      USING btree (address_key("to_address"), "block_number", "transaction_index", "log_index", "item");
  END IF;
END
$$;--> statement-breakpoint
ALTER TABLE "kept_subjects" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_wallet_collections" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_wallet_tokens" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
