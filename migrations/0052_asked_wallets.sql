CREATE TABLE "asked_wallets" (
	"chain_id" bigint NOT NULL,
	"wallet" "bytea" NOT NULL,
	"since_block" bigint,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "asked_wallets_chain_id_wallet_pk" PRIMARY KEY("chain_id","wallet")
);
--> statement-breakpoint
CREATE TABLE "wallet_watches" (
	"chain_id" bigint PRIMARY KEY NOT NULL,
	"first_block" bigint NOT NULL,
	"last_block" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "asked_wallets_new" ON "asked_wallets" USING btree ("chain_id") WHERE since_block IS NULL;--> statement-breakpoint
CREATE INDEX "asked_wallets_by_time" ON "asked_wallets" USING btree ("chain_id","asked_at");--> statement-breakpoint
ALTER TABLE "asked_wallets" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "wallet_watches" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
