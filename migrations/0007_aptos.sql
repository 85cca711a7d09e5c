CREATE TABLE "aptos_balance_history" (
	"network" text NOT NULL,
	"owner_address" "bytea" NOT NULL,
	"coin_type_hash" "bytea" NOT NULL,
	"transaction_version" bigint NOT NULL,
	"coin_type" text COLLATE "C" NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"transaction_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "aptos_balance_history_pk" PRIMARY KEY("owner_address","network","transaction_version","coin_type_hash")
);
--> statement-breakpoint
CREATE TABLE "aptos_balances" (
	"network" text NOT NULL,
	"owner_address" "bytea" NOT NULL,
	"coin_type_hash" "bytea" NOT NULL,
	"coin_type" text COLLATE "C" NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"last_transaction_version" bigint NOT NULL,
	"last_transaction_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "aptos_balances_owner_address_network_coin_type_hash_pk" PRIMARY KEY("owner_address","network","coin_type_hash")
);
--> statement-breakpoint
CREATE TABLE "aptos_coins" (
	"network" text NOT NULL,
	"coin_type_hash" "bytea" NOT NULL,
	"coin_type" text COLLATE "C" NOT NULL,
	"creator_address" "bytea" NOT NULL,
	"name" text COLLATE "C" NOT NULL,
	"symbol" text COLLATE "C" NOT NULL,
	"decimals" integer NOT NULL,
	"supply_aggregator_table_handle" "bytea",
	"supply_aggregator_table_key" "bytea",
	"transaction_version" bigint NOT NULL,
	"transaction_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "aptos_coins_coin_type_hash_network_pk" PRIMARY KEY("coin_type_hash","network")
);
--> statement-breakpoint
CREATE TABLE "aptos_networks" (
	"network" text PRIMARY KEY NOT NULL,
	"chain_id" integer NOT NULL,
	"history_start" bigint NOT NULL,
	"first_followed" bigint NOT NULL,
	"head" bigint,
	"oldest" bigint,
	"stop_code" text,
	"stop_message" text,
	"stall_reason" text,
	"fullnodes" jsonb,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "aptos_ranges" (
	"network" text NOT NULL,
	"dataset" text NOT NULL,
	"first_version" bigint NOT NULL,
	"last_version" bigint NOT NULL,
	CONSTRAINT "aptos_ranges_network_dataset_first_version_pk" PRIMARY KEY("network","dataset","first_version")
);
--> statement-breakpoint
CREATE TABLE "aptos_roots" (
	"network" text NOT NULL,
	"version" bigint NOT NULL,
	"accumulator_root" "bytea" NOT NULL,
	"fullnode" text NOT NULL,
	"confirmed_by" text,
	CONSTRAINT "aptos_roots_network_version_pk" PRIMARY KEY("network","version")
);
--> statement-breakpoint
CREATE TABLE "aptos_transfers" (
	"network" text NOT NULL,
	"owner_address" "bytea" NOT NULL,
	"transaction_version" bigint NOT NULL,
	"event_index" integer NOT NULL,
	"event_account_address" "bytea" NOT NULL,
	"event_creation_number" bigint NOT NULL,
	"event_sequence_number" numeric(39, 0) NOT NULL,
	"activity_type" text NOT NULL,
	"amount" numeric(39, 0) NOT NULL,
	"block_height" bigint NOT NULL,
	"coin_type" text COLLATE "C" NOT NULL,
	"coin_type_hash" "bytea" NOT NULL,
	"entry_function_id" text,
	"is_gas_fee" boolean NOT NULL,
	"is_transaction_success" boolean NOT NULL,
	"transaction_timestamp" timestamp with time zone NOT NULL,
	CONSTRAINT "aptos_transfers_pk" PRIMARY KEY("owner_address","network","transaction_version","event_index")
);
--> statement-breakpoint
CREATE INDEX "aptos_balance_history_by_coin" ON "aptos_balance_history" USING btree ("owner_address","network","coin_type_hash","transaction_version");--> statement-breakpoint
CREATE INDEX "aptos_balances_top" ON "aptos_balances" USING btree ("network","coin_type_hash","amount","owner_address") WHERE amount > 0;--> statement-breakpoint
CREATE INDEX "aptos_coins_latest" ON "aptos_coins" USING btree ("network","transaction_version","coin_type_hash");--> statement-breakpoint
CREATE INDEX "aptos_coins_by_symbol" ON "aptos_coins" USING btree ("network","symbol","coin_type_hash");--> statement-breakpoint
CREATE INDEX "aptos_coins_by_name" ON "aptos_coins" USING btree ("network","name","coin_type_hash");--> statement-breakpoint
CREATE INDEX "aptos_coins_by_creator" ON "aptos_coins" USING btree ("network","creator_address","transaction_version","coin_type_hash");--> statement-breakpoint
CREATE INDEX "aptos_transfers_by_owner_coin" ON "aptos_transfers" USING btree ("owner_address","network","coin_type_hash","transaction_version","event_index");--> statement-breakpoint
CREATE INDEX "aptos_transfers_by_block" ON "aptos_transfers" USING btree ("network","block_height","transaction_version","event_index");--> statement-breakpoint
CREATE INDEX "aptos_transfers_by_coin" ON "aptos_transfers" USING btree ("network","coin_type_hash","transaction_version","event_index");--> statement-breakpoint
-- What drizzle-kit has no words for: ranges that can't overlap.
ALTER TABLE "aptos_ranges" ADD CONSTRAINT "aptos_ranges_ordered" CHECK ("first_version" <= "last_version");--> statement-breakpoint
ALTER TABLE "aptos_ranges" ADD CONSTRAINT "aptos_ranges_disjoint"
  EXCLUDE USING gist ("network" WITH =, "dataset" WITH =, int8range("first_version", "last_version", '[]') WITH &&);
