CREATE TABLE "block_headers" (
	"block_key" bigint NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_count" integer NOT NULL,
	"block_hash" "bytea" NOT NULL,
	"parent_hash" "bytea" NOT NULL,
	"miner" "bytea" NOT NULL,
	"gas_limit" numeric(78,0) NOT NULL,
	"gas_used" numeric(78,0) NOT NULL,
	"base_fee_per_gas" numeric(78,0),
	"size" numeric(78,0) NOT NULL,
	"difficulty" numeric(78,0) NOT NULL,
	"total_difficulty" numeric(78,0),
	"blob_gas_used" numeric(78,0),
	"excess_blob_gas" numeric(78,0),
	"state_root" "bytea",
	"transactions_root" "bytea",
	"receipts_root" "bytea",
	"sha3_uncles" "bytea",
	"mix_hash" "bytea",
	"nonce" "bytea",
	"withdrawals_root" "bytea",
	"parent_beacon_block_root" "bytea",
	"requests_hash" "bytea",
	"extra_data" "bytea",
	"logs_bloom" "bytea",
	"withdrawals" "bytea",
	CONSTRAINT "block_headers_pkey" PRIMARY KEY("block_key","chain_id","block_number")
) PARTITION BY RANGE ("chain_id", "block_number");
--> statement-breakpoint
CREATE INDEX "block_headers_by_block" ON "block_headers" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
-- The key of a block's hash.
CREATE FUNCTION analytics.block_key(hex text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ('x' || substr(hex, 3, 16))::bit(64)::bigint;--> statement-breakpoint
CREATE VIEW analytics.block_headers AS
SELECT
  header.chain_id,
  -- Of its own type: converted, no index would know it.
  header.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(header.block_hash) AS block_hash,
  analytics.hex(header.parent_hash) AS parent_hash,
  analytics.hex(header.miner) AS miner,
  header.transaction_count AS transactions,
  header.gas_used,
  header.gas_limit,
  header.base_fee_per_gas,
  -- Coins that the base fee took.
  analytics.amount(header.gas_used * header.base_fee_per_gas, 18::smallint) AS base_fees,
  header.size,
  header.blob_gas_used,
  header.excess_blob_gas,
  header.difficulty,
  analytics.hex(header.state_root) AS state_root,
  analytics.hex(header.transactions_root) AS transactions_root,
  analytics.hex(header.receipts_root) AS receipts_root,
  analytics.hex(header.extra_data) AS extra_data,
  -- 44 bytes each.
  length(header.withdrawals) / 44 AS withdrawals,
  header.miner AS miner_bytes,
  header.block_hash AS hash_bytes,
  -- By this blocks are found, beside their hash.
  header.block_key
FROM public.block_headers AS header
LEFT JOIN public.blocks AS block ON block.chain_id = header.chain_id AND block.block_number = header.block_number;--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.block_headers TO chainstead_reader;
  END IF;
END
$$;
