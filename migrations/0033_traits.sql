CREATE TABLE "nft_collection_traits" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"generation" bigint,
	"tokens" integer,
	"traits" integer,
	"computed_at" timestamp with time zone,
	"indexed_from" integer,
	"indexed_to" integer,
	"is_complete" boolean,
	"is_too_large" boolean DEFAULT false NOT NULL,
	"work" text,
	"work_after" numeric(78,0),
	"work_generation" bigint,
	"read_after" timestamp with time zone,
	"advanced_at" timestamp with time zone,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"requested_by" text NOT NULL,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "nft_collection_traits_token_address_chain_id_pk" PRIMARY KEY("token_address","chain_id")
);
--> statement-breakpoint
CREATE TABLE "nft_token_rarity" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"generation" bigint NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"rank" integer NOT NULL,
	"score" double precision NOT NULL,
	CONSTRAINT "nft_token_rarity_token_address_chain_id_generation_token_id_pk" PRIMARY KEY("token_address","chain_id","generation","token_id")
);
--> statement-breakpoint
CREATE TABLE "nft_trait_counts" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"generation" bigint NOT NULL,
	"place" integer NOT NULL,
	"trait_key" "bytea" NOT NULL,
	"trait_type" text NOT NULL,
	"trait_value" text NOT NULL,
	"count" integer NOT NULL,
	CONSTRAINT "nft_trait_counts_token_address_chain_id_generation_place_pk" PRIMARY KEY("token_address","chain_id","generation","place")
);
--> statement-breakpoint
CREATE TABLE "nft_trait_generations" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"generation" bigint NOT NULL,
	CONSTRAINT "nft_trait_generations_token_address_chain_id_generation_pk" PRIMARY KEY("token_address","chain_id","generation")
);
--> statement-breakpoint
CREATE TABLE "nft_trait_tokens" (
	"token_address" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"generation" bigint NOT NULL,
	"place" integer NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	CONSTRAINT "nft_trait_tokens_token_address_chain_id_generation_place_token_hash_token_id_pk" PRIMARY KEY("token_address","chain_id","generation","place","token_hash","token_id")
);
--> statement-breakpoint
CREATE INDEX "nft_collection_traits_at_work" ON "nft_collection_traits" USING btree ("chain_id","advanced_at") WHERE work IS NOT NULL;--> statement-breakpoint
CREATE INDEX "nft_collection_traits_by_asking" ON "nft_collection_traits" USING btree ("asked_at");--> statement-breakpoint
CREATE INDEX "nft_trait_counts_by_key" ON "nft_trait_counts" USING btree ("trait_key");--> statement-breakpoint
ALTER TABLE "nft_collection_traits" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_token_rarity" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_trait_counts" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_trait_generations" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "nft_trait_tokens" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
