CREATE TABLE "erc20_holder_counts" (
	"token" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"transfers" bigint NOT NULL,
	"holders" bigint NOT NULL,
	"supply" numeric NOT NULL,
	"top_block" integer NOT NULL,
	"is_exact" boolean NOT NULL,
	"readings" integer DEFAULT 0 NOT NULL,
	"contradictions" integer DEFAULT 0 NOT NULL,
	"begun_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "erc20_holder_counts_token_chain_id_pk" PRIMARY KEY("token","chain_id")
);
--> statement-breakpoint
CREATE TABLE "erc20_holder_minutes" (
	"token" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"minute" timestamp with time zone NOT NULL,
	"class" smallint NOT NULL,
	"came" integer NOT NULL,
	"gone" integer NOT NULL,
	"airdropped" integer NOT NULL,
	"swapped" integer NOT NULL,
	CONSTRAINT "erc20_holder_minutes_token_chain_id_minute_class_pk" PRIMARY KEY("token","chain_id","minute","class")
);
--> statement-breakpoint
CREATE TABLE "erc20_holders" (
	"token" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"account" "bytea" NOT NULL,
	"total" numeric DEFAULT '0' NOT NULL,
	"moves" integer DEFAULT 0 NOT NULL,
	"first_block" integer,
	"first_transaction" integer,
	"acquired" smallint,
	"anchor_block" integer,
	"anchor_value" numeric(78, 0),
	"since" numeric DEFAULT '0' NOT NULL,
	"anchored_at" timestamp with time zone,
	"balance" numeric GENERATED ALWAYS AS (coalesce(anchor_value + since, total)) STORED,
	CONSTRAINT "erc20_holders_token_chain_id_account_pk" PRIMARY KEY("token","chain_id","account")
);
--> statement-breakpoint
CREATE INDEX "erc20_holders_by_balance" ON "erc20_holders" USING btree ("token","chain_id","balance","account") WHERE balance > 0;--> statement-breakpoint
CREATE INDEX "erc20_holders_below_zero" ON "erc20_holders" USING btree ("token","chain_id","balance") WHERE balance < 0;--> statement-breakpoint
CREATE INDEX "erc20_holders_by_anchor" ON "erc20_holders" USING btree ("chain_id","anchor_block") WHERE anchor_block IS NOT NULL;--> statement-breakpoint
ALTER TABLE "erc20_holder_counts" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "erc20_holder_minutes" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
ALTER TABLE "erc20_holders" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);