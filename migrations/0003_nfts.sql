CREATE TABLE "subject_histories" (
	"chain_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"subject" "bytea" NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"calls_estimated" integer,
	"calls_made" integer DEFAULT 0 NOT NULL,
	"rows_added" bigint DEFAULT 0 NOT NULL,
	"requested_by" text,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone,
	"error_code" text,
	"error_message" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "subject_histories_chain_id_kind_subject_pk" PRIMARY KEY("chain_id","kind","subject")
);
--> statement-breakpoint
CREATE TABLE "subject_ranges" (
	"chain_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"subject" "bytea" NOT NULL,
	"dataset" text NOT NULL,
	"first_block" bigint NOT NULL,
	"last_block" bigint NOT NULL,
	CONSTRAINT "subject_ranges_chain_id_kind_subject_dataset_first_block_pk" PRIMARY KEY("chain_id","kind","subject","dataset","first_block")
);
--> statement-breakpoint
CREATE TABLE "feed_answers" (
	"aggregator" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"round" numeric(78, 0) NOT NULL,
	"answer" numeric(78, 0) NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "feed_answers_aggregator_chain_id_block_number_transaction_index_log_index_pk" PRIMARY KEY("aggregator","chain_id","block_number","transaction_index","log_index")
);
--> statement-breakpoint
CREATE TABLE "payment_tokens" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"symbol" text NOT NULL,
	"decimals" smallint NOT NULL,
	"is_ether" boolean NOT NULL,
	CONSTRAINT "payment_tokens_token_address_chain_id_pk" PRIMARY KEY("token_address","chain_id")
);
--> statement-breakpoint
CREATE TABLE "pool_prices" (
	"pool" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"sqrt_price_x96" numeric(78, 0) NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "pool_prices_pool_chain_id_block_number_pk" PRIMARY KEY("pool","chain_id","block_number")
);
--> statement-breakpoint
CREATE TABLE "price_feed_phases" (
	"feed" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"aggregator" "bytea" NOT NULL,
	"decimals" smallint NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "price_feed_phases_feed_chain_id_aggregator_pk" PRIMARY KEY("feed","chain_id","aggregator")
);
--> statement-breakpoint
CREATE TABLE "collection_list_entries" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"source" text NOT NULL,
	"name" text,
	"symbol" text,
	"collection_logo" text,
	"collection_banner_image" text,
	"collection_category" text,
	"project_url" text,
	"wiki_url" text,
	"discord_url" text,
	"telegram_url" text,
	"twitter_username" text,
	"instagram_username" text,
	"verified" boolean,
	"possible_spam" boolean,
	CONSTRAINT "collection_list_entries_token_address_chain_id_source_pk" PRIMARY KEY("token_address","chain_id","source")
);
--> statement-breakpoint
CREATE TABLE "nft_collections" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"contract_type" text,
	"name" text,
	"symbol" text,
	"contract_uri" text,
	"base_uri" text,
	"collection_logo" text,
	"collection_banner_image" text,
	"collection_category" text,
	"project_url" text,
	"wiki_url" text,
	"discord_url" text,
	"telegram_url" text,
	"twitter_username" text,
	"instagram_username" text,
	"synced_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"error_code" text,
	"error_message" text,
	"requested_by" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "nft_collections_token_address_chain_id_pk" PRIMARY KEY("token_address","chain_id")
);
--> statement-breakpoint
CREATE TABLE "nft_metadata_events" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"kind" smallint NOT NULL,
	"from_token_id" numeric(78, 0),
	"to_token_id" numeric(78, 0),
	"block_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "nft_metadata_events_token_address_chain_id_block_number_transaction_index_log_index_pk" PRIMARY KEY("token_address","chain_id","block_number","transaction_index","log_index")
);
--> statement-breakpoint
CREATE TABLE "nft_token_metadata" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"token_uri" text,
	"metadata" text,
	"synced_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"error_code" text,
	"error_message" text,
	"requested_by" text,
	CONSTRAINT "nft_token_metadata_token_address_chain_id_token_id_pk" PRIMARY KEY("token_address","chain_id","token_id")
);
--> statement-breakpoint
CREATE TABLE "nft_sale_days" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token_id" numeric NOT NULL,
	"payment_token" "bytea" NOT NULL,
	"day" date NOT NULL,
	"sales" bigint NOT NULL,
	"total" numeric NOT NULL,
	"lowest" numeric(78,0) NOT NULL,
	"lowest_block" bigint NOT NULL,
	"lowest_transaction" integer NOT NULL,
	"lowest_log" integer NOT NULL,
	"lowest_item" integer NOT NULL,
	"highest" numeric(78,0) NOT NULL,
	"highest_block" bigint NOT NULL,
	"highest_transaction" integer NOT NULL,
	"highest_log" integer NOT NULL,
	"highest_item" integer NOT NULL,
	"latest_block" bigint NOT NULL,
	"latest_transaction" integer NOT NULL,
	"latest_log" integer NOT NULL,
	"latest_item" integer NOT NULL,
	CONSTRAINT "nft_sale_days_token_address_chain_id_token_id_payment_token_day_pk" PRIMARY KEY("token_address","chain_id","token_id","payment_token","day")
);
--> statement-breakpoint
CREATE TABLE "nft_trades" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"item" integer NOT NULL,
	"leads" boolean NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"token_ids" numeric(78, 0)[] NOT NULL,
	"amounts" numeric(78, 0)[] NOT NULL,
	"marketplace" text NOT NULL,
	"protocol" text NOT NULL,
	"marketplace_address" "bytea" NOT NULL,
	"seller" "bytea" NOT NULL,
	"buyer" "bytea" NOT NULL,
	"side" smallint NOT NULL,
	"payment_token" "bytea",
	"price" numeric,
	"collections" smallint NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "nft_trades_token_address_chain_id_block_number_transaction_index_log_index_item_pk" PRIMARY KEY("token_address","chain_id","block_number","transaction_index","log_index","item")
);
--> statement-breakpoint
CREATE TABLE "punk_bids" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"block_number" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"bidder" "bytea" NOT NULL,
	"value" numeric(78,0) NOT NULL,
	"entered" boolean NOT NULL,
	CONSTRAINT "punk_bids_token_address_chain_id_token_id_block_number_transaction_index_log_index_pk" PRIMARY KEY("token_address","chain_id","token_id","block_number","transaction_index","log_index")
);
--> statement-breakpoint
CREATE TABLE "nft_balances" (
	"account" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token_address" "bytea" NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"amount" numeric NOT NULL,
	CONSTRAINT "nft_balances_account_chain_id_token_address_token_id_pk" PRIMARY KEY("account","chain_id","token_address","token_id")
);
--> statement-breakpoint
CREATE TABLE "nft_holdings" (
	"account" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token_address" "bytea" NOT NULL,
	"ids_held" bigint NOT NULL,
	CONSTRAINT "nft_holdings_account_chain_id_token_address_pk" PRIMARY KEY("account","chain_id","token_address")
);
--> statement-breakpoint
CREATE TABLE "nft_malformed_logs" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	"reason" smallint NOT NULL,
	CONSTRAINT "nft_malformed_logs_token_address_chain_id_block_number_transaction_index_log_index_pk" PRIMARY KEY("token_address","chain_id","block_number","transaction_index","log_index")
);
--> statement-breakpoint
CREATE TABLE "nft_transfers" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"item" integer NOT NULL,
	"kind" smallint NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"last_token_id" numeric(78,0),
	"from_address" "bytea" NOT NULL,
	"to_address" "bytea" NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"operator" "bytea",
	"transaction_hash" "bytea" NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "nft_transfers_token_address_chain_id_block_number_transaction_index_log_index_item_pk" PRIMARY KEY("token_address","chain_id","block_number","transaction_index","log_index","item")
);
--> statement-breakpoint
ALTER TABLE "tokens" ADD COLUMN "seen_as" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "subject_histories_unfinished" ON "subject_histories" USING btree ("chain_id","status") WHERE status <> 'done';--> statement-breakpoint
CREATE INDEX "nft_collections_due" ON "nft_collections" USING btree ("due_at") WHERE status NOT IN ('not-nft', 'not-contract');--> statement-breakpoint
CREATE INDEX "nft_collections_refused" ON "nft_collections" USING btree ("due_at") WHERE status IN ('not-nft', 'not-contract');--> statement-breakpoint
CREATE INDEX "nft_collections_requested" ON "nft_collections" USING btree ("requested_by") WHERE requested_by IS NOT NULL;--> statement-breakpoint
CREATE INDEX "nft_token_metadata_due" ON "nft_token_metadata" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "nft_token_metadata_requested" ON "nft_token_metadata" USING btree ("requested_by") WHERE requested_by IS NOT NULL;--> statement-breakpoint
CREATE INDEX "nft_trades_by_token" ON "nft_trades" USING btree ("token_address","chain_id","token_id","block_number","transaction_index","log_index","item");--> statement-breakpoint
CREATE INDEX "nft_trades_by_marketplace" ON "nft_trades" USING btree ("token_address","chain_id","marketplace","block_number","transaction_index","log_index","item") WHERE leads;--> statement-breakpoint
CREATE INDEX "nft_trades_by_seller" ON "nft_trades" USING btree ("seller","chain_id","block_number","transaction_index","log_index","item") WHERE leads;--> statement-breakpoint
CREATE INDEX "nft_trades_by_buyer" ON "nft_trades" USING btree ("buyer","chain_id","block_number","transaction_index","log_index","item") WHERE leads;--> statement-breakpoint
CREATE INDEX "nft_balances_by_token" ON "nft_balances" USING btree ("token_address","chain_id","token_id","account");--> statement-breakpoint
CREATE INDEX "nft_transfers_by_token" ON "nft_transfers" USING btree ("token_address","chain_id","token_id","block_number","transaction_index","log_index","item");--> statement-breakpoint
ALTER TABLE "subject_ranges" ADD CONSTRAINT "subject_ranges_ordered" CHECK ("first_block" <= "last_block");--> statement-breakpoint
ALTER TABLE "subject_ranges" ADD CONSTRAINT "subject_ranges_disjoint"
  EXCLUDE USING gist ("chain_id" WITH =, "kind" WITH =, "subject" WITH =, "dataset" WITH =, int8range("first_block", "last_block", '[]') WITH &&);--> statement-breakpoint
-- Rollbacks and redone ranges find their rows by block, as those of erc20_transfers.
CREATE INDEX "nft_transfers_by_block" ON "nft_transfers"
  USING brin ("chain_id", "block_number" int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
CREATE INDEX "nft_trades_by_block" ON "nft_trades"
  USING brin ("chain_id", "block_number" int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
CREATE INDEX "nft_malformed_logs_by_block" ON "nft_malformed_logs"
  USING brin ("chain_id", "block_number" int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
CREATE INDEX "punk_bids_by_block" ON "punk_bids"
  USING brin ("chain_id", "block_number" int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
CREATE INDEX "feed_answers_by_block" ON "feed_answers"
  USING brin ("chain_id", "block_number" int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
CREATE INDEX "pool_prices_by_block" ON "pool_prices"
  USING brin ("chain_id", "block_number" int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
CREATE INDEX "nft_metadata_events_by_block" ON "nft_metadata_events"
  USING brin ("chain_id", "block_number" int8_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
-- Whatever is there already was seen in ERC-20 transfers: nothing else was indexed.
UPDATE "tokens" SET "seen_as" = 1;
