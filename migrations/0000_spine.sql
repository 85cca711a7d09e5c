CREATE TABLE "api_keys" (
	"key_hash" "bytea" PRIMARY KEY NOT NULL,
	"prefix" text NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "server_secrets" (
	"name" text PRIMARY KEY NOT NULL,
	"value" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "blocks" (
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"parent_hash" "bytea",
	"block_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "blocks_chain_id_block_number_pk" PRIMARY KEY("chain_id","block_number")
);
--> statement-breakpoint
CREATE TABLE "sync_chains" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"history_start" bigint NOT NULL,
	"first_followed" bigint NOT NULL,
	"checkpoint" bigint,
	"checkpoint_hash" "bytea",
	"finalized" bigint,
	"head" bigint,
	"stop_code" text,
	"stop_message" text,
	"stall_reason" text,
	"upstreams" jsonb,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sync_claims" (
	"chain_id" bigint NOT NULL,
	"first_block" bigint NOT NULL,
	"last_block" bigint NOT NULL,
	"owner" bigint NOT NULL,
	"purpose" text NOT NULL,
	"claimed_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sync_claims_chain_id_first_block_pk" PRIMARY KEY("chain_id","first_block")
);
--> statement-breakpoint
CREATE TABLE "sync_ranges" (
	"chain_id" bigint NOT NULL,
	"dataset" text NOT NULL,
	"first_block" bigint NOT NULL,
	"last_block" bigint NOT NULL,
	"proof" text NOT NULL,
	"proof_reason" text,
	"upstream" text,
	CONSTRAINT "sync_ranges_chain_id_dataset_first_block_pk" PRIMARY KEY("chain_id","dataset","first_block")
);
--> statement-breakpoint
CREATE TABLE "upstream_faults" (
	"chain_id" bigint NOT NULL,
	"upstream" text NOT NULL,
	"kind" text NOT NULL,
	"block_number" bigint NOT NULL,
	"facts" jsonb NOT NULL,
	"occurrences" integer DEFAULT 1 NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "upstream_faults_chain_id_upstream_kind_block_number_pk" PRIMARY KEY("chain_id","upstream","kind","block_number")
);
--> statement-breakpoint
CREATE TABLE "erc20_transfers" (
	"account" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"direction" smallint NOT NULL,
	"token" "bytea" NOT NULL,
	"counterparty" "bytea" NOT NULL,
	"value" numeric(78,0) NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "erc20_transfers_account_chain_id_block_number_transaction_index_log_index_pk" PRIMARY KEY("account","chain_id","block_number","transaction_index","log_index")
);
--> statement-breakpoint
CREATE TABLE "address_labels" (
	"address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"source" text NOT NULL,
	"label" text,
	"entity" text,
	"entity_logo" text,
	CONSTRAINT "address_labels_address_chain_id_source_pk" PRIMARY KEY("address","chain_id","source")
);
--> statement-breakpoint
CREATE TABLE "spam_list_entries" (
	"address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"source" text NOT NULL,
	"reason" text,
	CONSTRAINT "spam_list_entries_address_chain_id_source_pk" PRIMARY KEY("address","chain_id","source")
);
--> statement-breakpoint
CREATE TABLE "token_list_entries" (
	"address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"source" text NOT NULL,
	"name" text,
	"symbol" text,
	"decimals" smallint,
	"logo" text,
	CONSTRAINT "token_list_entries_address_chain_id_source_pk" PRIMARY KEY("address","chain_id","source")
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"standard" text,
	"name" text,
	"symbol" text,
	"decimals" smallint,
	"facts_status" text DEFAULT 'pending' NOT NULL,
	"facts_attempts" integer DEFAULT 0 NOT NULL,
	"facts_retry_at" timestamp with time zone,
	"logo" text,
	"verified" boolean DEFAULT false NOT NULL,
	"possible_spam" boolean DEFAULT false NOT NULL,
	CONSTRAINT "tokens_address_chain_id_pk" PRIMARY KEY("address","chain_id")
);
--> statement-breakpoint
CREATE INDEX "erc20_transfers_by_token" ON "erc20_transfers" USING btree ("account","chain_id","token","block_number","transaction_index","log_index");--> statement-breakpoint
CREATE INDEX "tokens_without_facts" ON "tokens" USING btree ("facts_status","facts_retry_at");