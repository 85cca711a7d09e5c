CREATE TABLE "account_codes" (
	"address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"has_code" boolean NOT NULL,
	"looked_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "account_codes_address_chain_id_pk" PRIMARY KEY("address","chain_id")
);
--> statement-breakpoint
CREATE TABLE "native_balances" (
	"account" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"wei" numeric(78,0) NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"read_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "native_balances_account_chain_id_pk" PRIMARY KEY("account","chain_id")
);
--> statement-breakpoint
CREATE TABLE "state_questions" (
	"chain_id" bigint NOT NULL,
	"key" text NOT NULL,
	"kind" text NOT NULL,
	"question" jsonb NOT NULL,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"settled_at" timestamp with time zone,
	"answer" jsonb,
	"error_code" text,
	"error_message" text,
	CONSTRAINT "state_questions_chain_id_key_pk" PRIMARY KEY("chain_id","key")
);
--> statement-breakpoint
CREATE TABLE "transaction_facts" (
	"hash" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"sender" "bytea" NOT NULL,
	"recipient" "bytea",
	"value" numeric(78,0) NOT NULL,
	"method" "bytea",
	CONSTRAINT "transaction_facts_hash_chain_id_pk" PRIMARY KEY("hash","chain_id")
);
--> statement-breakpoint
CREATE TABLE "erc20_token_classes" (
	"token" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"class" text NOT NULL,
	"since_block" bigint NOT NULL,
	"told_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "erc20_token_classes_token_chain_id_pk" PRIMARY KEY("token","chain_id")
);
--> statement-breakpoint
CREATE TABLE "erc20_wallet_tokens" (
	"wallet" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token" "bytea" NOT NULL,
	"total" numeric DEFAULT '0' NOT NULL,
	"moved_block" integer DEFAULT -1 NOT NULL,
	"moved_transaction" integer DEFAULT -1 NOT NULL,
	"moved_log" integer DEFAULT -1 NOT NULL,
	"anchor_block" integer,
	"anchor_value" numeric(78, 0),
	"since" numeric DEFAULT '0' NOT NULL,
	"anchored_at" timestamp with time zone,
	CONSTRAINT "erc20_wallet_tokens_wallet_chain_id_token_pk" PRIMARY KEY("wallet","chain_id","token")
);
--> statement-breakpoint
CREATE TABLE "nft_collection_balances" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"owner" "bytea" NOT NULL,
	"amount" numeric NOT NULL,
	"last_block" integer NOT NULL,
	CONSTRAINT "nft_collection_balances_token_address_chain_id_token_id_owner_pk" PRIMARY KEY("token_address","chain_id","token_id","owner")
);
--> statement-breakpoint
CREATE TABLE "nft_collection_counts" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"transfers" bigint NOT NULL,
	"ids" bigint NOT NULL,
	"owners" bigint NOT NULL,
	CONSTRAINT "nft_collection_counts_token_address_chain_id_pk" PRIMARY KEY("token_address","chain_id")
);
--> statement-breakpoint
CREATE TABLE "nft_collection_ids" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"holders" bigint NOT NULL,
	"supply" numeric NOT NULL,
	CONSTRAINT "nft_collection_ids_token_address_chain_id_token_id_pk" PRIMARY KEY("token_address","chain_id","token_id")
);
--> statement-breakpoint
CREATE TABLE "nft_collection_owners" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"owner" "bytea" NOT NULL,
	"ids_held" bigint NOT NULL,
	CONSTRAINT "nft_collection_owners_token_address_chain_id_owner_pk" PRIMARY KEY("token_address","chain_id","owner")
);
--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "total_supply" numeric(78,0);--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "supply_block" bigint;--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "supply_read_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "created_block" bigint;--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "created_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "creation_sought_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "nft_token_metadata" ADD COLUMN "uri_synced_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "state_questions_by_age" ON "state_questions" USING btree ("asked_at");--> statement-breakpoint
CREATE INDEX "erc20_wallet_tokens_by_movement" ON "erc20_wallet_tokens" USING btree ("wallet","chain_id","moved_block","moved_transaction","moved_log","token");--> statement-breakpoint
CREATE INDEX "erc20_wallet_tokens_by_anchor" ON "erc20_wallet_tokens" USING btree ("chain_id","anchor_block") WHERE anchor_block IS NOT NULL;--> statement-breakpoint
CREATE INDEX "nft_collection_balances_by_change" ON "nft_collection_balances" USING btree ("token_address","chain_id","last_block","token_id","owner") WHERE amount > 0;--> statement-breakpoint
CREATE INDEX "nft_collection_ids_by_hash" ON "nft_collection_ids" USING btree ("token_address","chain_id","token_hash") WHERE holders > 0;--> statement-breakpoint
-- A migration builds no large index: where there are many transfers, `chainstead indexes` builds it.
DO $$
BEGIN
  IF (SELECT coalesce(sum(pg_relation_size(inhrelid)), 0) FROM pg_inherits WHERE inhparent = 'erc20_transfers'::regclass) < 1073741824 THEN
    CREATE INDEX "erc20_transfers_by_contract" ON "erc20_transfers"
      USING btree (token_key(token), "block_number", "transaction_index", "log_index") WHERE direction <> 1;
  END IF;
END
$$;--> statement-breakpoint
CREATE INDEX "tokens_by_symbol" ON "tokens" USING btree ("chain_id",lower(symbol));--> statement-breakpoint
ALTER TABLE "erc20_wallet_tokens" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_collection_balances" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_collection_counts" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_collection_ids" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_collection_owners" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "native_balances" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "state_questions" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "transaction_facts" SET (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
