CREATE TABLE "erc20_balance_slots" (
	"token" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"layout" text,
	"slot" numeric(78,0),
	"checked_by" "bytea"[] NOT NULL,
	"checked_block" bigint NOT NULL,
	"found_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "erc20_balance_slots_token_chain_id_pk" PRIMARY KEY("token","chain_id")
);
