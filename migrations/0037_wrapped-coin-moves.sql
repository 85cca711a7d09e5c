CREATE TABLE "wrapped_coin_moves" (
	"account_key" bigint NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"direction" smallint NOT NULL,
	"account" "bytea" NOT NULL,
	"token" "bytea" NOT NULL,
	"counterparty" "bytea" NOT NULL,
	"value" numeric(78,0) NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	CONSTRAINT "wrapped_coin_moves_pkey" PRIMARY KEY("account_key","chain_id","block_number","transaction_index","log_index","direction")
) PARTITION BY RANGE ("chain_id", "block_number");
--> statement-breakpoint
CREATE INDEX "wrapped_coin_moves_by_contract" ON "wrapped_coin_moves" USING btree (token_key("token"),"block_number") WHERE direction <> 1;--> statement-breakpoint
CREATE INDEX "wrapped_coin_moves_by_block" ON "wrapped_coin_moves" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range = 32,autosummarize = on);--> statement-breakpoint
-- What was wrapped and unwrapped, each once: the zero address has its side of all of it.
CREATE VIEW analytics.wrapped_coin_moves AS
SELECT
  moved.chain_id,
  -- Of its own type: converted, no index would know it.
  moved.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(moved.transaction_hash) AS transaction_hash,
  moved.transaction_index,
  moved.log_index,
  CASE moved.direction WHEN 1 THEN 'deposit' ELSE 'withdrawal' END AS kind,
  analytics.hex(moved.account) AS account,
  analytics.hex(moved.token) AS token_address,
  token.symbol AS token_symbol,
  analytics.amount(moved.value, token.decimals) AS amount,
  moved.value AS base_units,
  moved.account AS account_bytes,
  moved.token AS token_bytes,
  -- By these accounts are found, beside their bytes.
  moved.account_key
FROM public.wrapped_coin_moves AS moved
LEFT JOIN public.blocks AS block ON block.chain_id = moved.chain_id AND block.block_number = moved.block_number
LEFT JOIN public.tokens AS token ON token.address = moved.token AND token.chain_id = moved.chain_id
WHERE moved.account <> '\x0000000000000000000000000000000000000000'::bytea;--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.wrapped_coin_moves TO chainstead_reader;
  END IF;
END
$$;
