CREATE TABLE "historical_jobs" (
	"id" uuid PRIMARY KEY NOT NULL,
	"stream_id" uuid NOT NULL,
	"chain_id" bigint NOT NULL,
	"from_block" bigint NOT NULL,
	"to_block" bigint NOT NULL,
	"from_timestamp" bigint,
	"to_timestamp" bigint,
	"next_block" bigint NOT NULL,
	"addresses" text[],
	"status" text DEFAULT 'pending' NOT NULL,
	"matches" bigint DEFAULT 0 NOT NULL,
	"error_message" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "stream_addresses" (
	"stream_id" uuid NOT NULL,
	"address" "bytea" NOT NULL,
	"version" bigint NOT NULL,
	CONSTRAINT "stream_addresses_address_stream_id_pk" PRIMARY KEY("address","stream_id")
);
--> statement-breakpoint
CREATE TABLE "stream_attempts" (
	"id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"stream_id" uuid NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"confirmed" boolean NOT NULL,
	"webhook_url" text NOT NULL,
	"tag" text NOT NULL,
	"retries" integer NOT NULL,
	"success" boolean NOT NULL,
	"http_status" integer,
	"error_message" text,
	"body" text,
	"records" integer NOT NULL,
	"duration_ms" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "stream_attempts_created_at_id_pk" PRIMARY KEY("created_at","id")
);
--> statement-breakpoint
CREATE TABLE "stream_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"stream_id" uuid NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"kind" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"retries" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"body" text,
	"resend" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"delivered_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "stream_match_transactions" (
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"stream_id" uuid NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	CONSTRAINT "stream_match_transactions_pk" PRIMARY KEY("chain_id","block_number","stream_id","block_hash","transaction_hash")
);
--> statement-breakpoint
CREATE TABLE "stream_matches" (
	"chain_id" bigint NOT NULL,
	"block_number" bigint NOT NULL,
	"stream_id" uuid NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"block_timestamp" timestamp with time zone NOT NULL,
	"matched" text NOT NULL,
	"body" text,
	"logs" integer NOT NULL,
	"txs" integer NOT NULL,
	"txs_internal" integer NOT NULL,
	"removed_at" timestamp with time zone,
	"confirmed" boolean DEFAULT false NOT NULL,
	CONSTRAINT "stream_matches_chain_id_block_number_stream_id_block_hash_pk" PRIMARY KEY("chain_id","block_number","stream_id","block_hash")
);
--> statement-breakpoint
CREATE TABLE "stream_settings" (
	"id" smallint PRIMARY KEY NOT NULL,
	"region" text NOT NULL,
	"secret_key" text NOT NULL,
	"previous_secret_key" text,
	"previous_valid_until" timestamp with time zone,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "stream_stats" (
	"stream_id" uuid PRIMARY KEY NOT NULL,
	"webhooks_delivered" bigint DEFAULT 0 NOT NULL,
	"webhooks_failed" bigint DEFAULT 0 NOT NULL,
	"logs_processed" bigint DEFAULT 0 NOT NULL,
	"txs_processed" bigint DEFAULT 0 NOT NULL,
	"txs_internal_processed" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "streams" (
	"id" uuid PRIMARY KEY NOT NULL,
	"webhook_url" text NOT NULL,
	"description" text NOT NULL,
	"tag" text NOT NULL,
	"chain_ids" bigint[] NOT NULL,
	"topic0" text[],
	"all_addresses" boolean NOT NULL,
	"include_native_txs" boolean NOT NULL,
	"include_contract_logs" boolean NOT NULL,
	"include_internal_txs" boolean NOT NULL,
	"include_all_tx_logs" boolean NOT NULL,
	"filter_possible_spam_addresses" boolean NOT NULL,
	"get_native_balances" jsonb NOT NULL,
	"abi" text,
	"advanced_options" text,
	"triggers" text,
	"demo" boolean NOT NULL,
	"send_removed" boolean DEFAULT false NOT NULL,
	"status" text NOT NULL,
	"status_message" text NOT NULL,
	"error_since" timestamp with time zone,
	"amount_of_addresses" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "streams_version" (
	"id" smallint PRIMARY KEY NOT NULL,
	"version" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_health" (
	"webhook_url" text PRIMARY KEY NOT NULL,
	"success_rate" integer DEFAULT 100 NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_host_leases" (
	"host" text PRIMARY KEY NOT NULL,
	"holder" uuid NOT NULL,
	"held_until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "stream_addresses_by_stream" ON "stream_addresses" USING btree ("stream_id","address");--> statement-breakpoint
CREATE INDEX "stream_addresses_by_version" ON "stream_addresses" USING btree ("version");--> statement-breakpoint
CREATE INDEX "stream_attempts_by_stream" ON "stream_attempts" USING btree ("stream_id","created_at","id");--> statement-breakpoint
CREATE INDEX "stream_attempts_failed" ON "stream_attempts" USING btree ("created_at","id") WHERE NOT success;--> statement-breakpoint
CREATE INDEX "stream_attempts_failed_by_id" ON "stream_attempts" USING btree ("id") WHERE NOT success;--> statement-breakpoint
CREATE INDEX "stream_attempts_by_block" ON "stream_attempts" USING btree ("chain_id","block_number");--> statement-breakpoint
CREATE INDEX "stream_deliveries_by_block" ON "stream_deliveries" USING btree ("chain_id","block_number");--> statement-breakpoint
CREATE INDEX "stream_deliveries_pending_by_stream" ON "stream_deliveries" USING btree ("stream_id","due_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "stream_match_transactions_by_hash" ON "stream_match_transactions" USING btree ("transaction_hash");--> statement-breakpoint
CREATE INDEX "stream_matches_unconfirmed" ON "stream_matches" USING btree ("chain_id","block_number") WHERE NOT confirmed AND removed_at IS NULL;--> statement-breakpoint
-- Texts of some kB that are written once and read once: compressing them would cost more than all else of writing them.
ALTER TABLE "stream_matches" ALTER COLUMN "matched" SET STORAGE EXTERNAL, ALTER COLUMN "body" SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160);--> statement-breakpoint
INSERT INTO "streams_version" ("id", "version") VALUES (1, 0);
