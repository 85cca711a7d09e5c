CREATE TABLE "account_transactions" (
	"account_key" bigint NOT NULL,
	"chain_id" bigint NOT NULL,
	"transaction_key" bigint NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_index" integer NOT NULL,
	"evidence" integer DEFAULT 0 NOT NULL,
	"roles" smallint NOT NULL,
	"account" "bytea" NOT NULL,
	CONSTRAINT "account_transactions_pkey" PRIMARY KEY("account_key","chain_id","block_number","transaction_index","roles")
) PARTITION BY RANGE ("chain_id", "block_number");
--> statement-breakpoint
CREATE TABLE "transactions" (
	"transaction_key" bigint NOT NULL,
	"chain_id" bigint NOT NULL,
	"nonce" bigint NOT NULL,
	"gas" bigint NOT NULL,
	"gas_used" bigint NOT NULL,
	"cumulative_gas_used" bigint NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_index" integer NOT NULL,
	"type" smallint NOT NULL,
	"status" smallint,
	"sender_recovered" boolean NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	"from_address" "bytea" NOT NULL,
	"to_address" "bytea",
	"contract_address" "bytea",
	"value" numeric(78,0) NOT NULL,
	"gas_price" numeric(78,0) NOT NULL,
	"l1_fee" numeric(78,0),
	"blob_gas_used" numeric(78,0),
	"blob_gas_price" numeric(78,0),
	"root" "bytea",
	"selector" "bytea",
	"input" "bytea",
	CONSTRAINT "transactions_pkey" PRIMARY KEY("transaction_key","chain_id","block_number","transaction_index")
) PARTITION BY RANGE ("chain_id", "block_number");
--> statement-breakpoint
CREATE INDEX "account_transactions_by_block" ON "account_transactions" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE INDEX "transactions_by_block" ON "transactions" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
-- The key of a transaction's hash.
CREATE FUNCTION analytics.transaction_key(hex text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ('x' || substr(hex, 3, 16))::bit(64)::bigint;--> statement-breakpoint
CREATE VIEW analytics.transactions AS
SELECT
  made.chain_id,
  -- Of its own type: converted, no index would know it.
  made.block_number,
  block.block_timestamp AS block_time,
  made.transaction_index,
  analytics.hex(made.transaction_hash) AS transaction_hash,
  made.type,
  -- Null before Byzantium, whose receipts don't tell.
  made.status = 1 AS succeeded,
  analytics.hex(made.from_address) AS from_address,
  analytics.hex(made.to_address) AS to_address,
  analytics.hex(made.contract_address) AS created_contract,
  made.nonce,
  analytics.amount(made.value, 18::smallint) AS value,
  made.value AS base_units,
  made.gas AS gas_limit,
  made.gas_used,
  made.gas_price,
  -- Coins, with what rollups charge beside gas, without what blobs cost.
  analytics.amount(made.gas_used * made.gas_price + coalesce(made.l1_fee, 0), 18::smallint) AS fee,
  analytics.amount(made.blob_gas_used * made.blob_gas_price, 18::smallint) AS blob_fee,
  analytics.hex(made.selector) AS method,
  -- Null where only the first four bytes are kept.
  analytics.hex(made.input) AS input,
  made.sender_recovered,
  made.from_address AS from_bytes,
  made.to_address AS to_bytes,
  made.transaction_hash AS hash_bytes,
  -- By this transactions are found, beside their hash.
  made.transaction_key
FROM public.transactions AS made
LEFT JOIN public.blocks AS block ON block.chain_id = made.chain_id AND block.block_number = made.block_number;--> statement-breakpoint
CREATE VIEW analytics.account_transactions AS
SELECT
  part.chain_id,
  part.block_number,
  block.block_timestamp AS block_time,
  part.transaction_index,
  analytics.hex(part.account) AS account,
  part.roles & 1 <> 0 AS is_sender,
  part.roles & 2 <> 0 AS is_receiver,
  part.roles & 4 <> 0 AS is_created,
  part.account AS account_bytes,
  -- By these accounts are found, beside their bytes.
  part.account_key,
  part.transaction_key
FROM public.account_transactions AS part
LEFT JOIN public.blocks AS block ON block.chain_id = part.chain_id AND block.block_number = part.block_number;--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.transactions, analytics.account_transactions TO chainstead_reader;
  END IF;
END
$$;
