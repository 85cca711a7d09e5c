CREATE TABLE "erc20_approvals" (
	"owner_key" bigint NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"owner" "bytea" NOT NULL,
	"token" "bytea" NOT NULL,
	"spender" "bytea" NOT NULL,
	"value" numeric(78,0) NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	CONSTRAINT "erc20_approvals_pkey" PRIMARY KEY("owner_key","chain_id","block_number","transaction_index","log_index")
) PARTITION BY RANGE ("chain_id", "block_number");
--> statement-breakpoint
CREATE TABLE "erc20_wallet_approvals" (
	"wallet" "bytea" NOT NULL,
	"chain_id" bigint NOT NULL,
	"token" "bytea" NOT NULL,
	"spender" "bytea" NOT NULL,
	"value" numeric(78,0) NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	CONSTRAINT "erc20_wallet_approvals_wallet_chain_id_token_spender_pk" PRIMARY KEY("wallet","chain_id","token","spender")
);
--> statement-breakpoint
CREATE INDEX "erc20_approvals_by_block" ON "erc20_approvals" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range = 32,autosummarize = on);--> statement-breakpoint
CREATE INDEX "erc20_wallet_approvals_by_block" ON "erc20_wallet_approvals" USING btree ("wallet","chain_id","block_number","transaction_index","log_index","token","spender");--> statement-breakpoint
ALTER TABLE "erc20_wallet_approvals" SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
CREATE VIEW analytics.erc20_approvals AS
SELECT
  approval.chain_id,
  -- Of its own type: converted, no index would know it.
  approval.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(approval.transaction_hash) AS transaction_hash,
  approval.transaction_index,
  approval.log_index,
  analytics.hex(approval.owner) AS owner,
  analytics.hex(approval.spender) AS spender,
  analytics.hex(approval.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  analytics.amount(approval.value, token.decimals) AS amount,
  approval.value AS base_units,
  approval.value >= power(2::numeric, 255) AS is_unlimited,
  coalesce(token.possible_spam, false) AS possible_spam,
  approval.owner AS owner_bytes,
  approval.spender AS spender_bytes,
  approval.token AS token_bytes,
  -- By these owners are found, beside their bytes.
  approval.owner_key
FROM public.erc20_approvals AS approval
LEFT JOIN public.blocks AS block ON block.chain_id = approval.chain_id AND block.block_number = approval.block_number
LEFT JOIN public.tokens AS token ON token.address = approval.token AND token.chain_id = approval.chain_id;--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.erc20_approvals TO chainstead_reader;
  END IF;
END
$$;
