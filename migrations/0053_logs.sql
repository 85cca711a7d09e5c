CREATE TABLE "logs" (
	"address_key" bigint NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	"address" "bytea" NOT NULL,
	"topic0" "bytea",
	"topic1" "bytea",
	"topic2" "bytea",
	"topic3" "bytea",
	"data" "bytea" NOT NULL,
	CONSTRAINT "logs_pkey" PRIMARY KEY("address_key","chain_id","block_number","transaction_index","log_index")
) PARTITION BY RANGE ("chain_id", "block_number");
--> statement-breakpoint
CREATE TABLE "internal_transfers" (
	"account_key" bigint NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_index" integer NOT NULL,
	"trace_index" integer NOT NULL,
	"direction" smallint NOT NULL,
	"account" "bytea" NOT NULL,
	"counterparty" "bytea" NOT NULL,
	"value" numeric(78,0) NOT NULL,
	"transaction_hash" "bytea" NOT NULL,
	"type" text NOT NULL,
	CONSTRAINT "internal_transfers_pkey" PRIMARY KEY("account_key","chain_id","block_number","transaction_index","trace_index","direction")
) PARTITION BY RANGE ("chain_id", "block_number");
--> statement-breakpoint
CREATE INDEX "logs_by_topic" ON "logs" USING btree ("address_key","substring"(topic0, 1, 4),"block_number");--> statement-breakpoint
CREATE INDEX "logs_by_block" ON "logs" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE INDEX "internal_transfers_by_block" ON "internal_transfers" USING brin ("chain_id","block_number" int4_minmax_multi_ops) WITH (pages_per_range=32,autosummarize=true);--> statement-breakpoint
CREATE VIEW analytics.logs AS
SELECT
  log.chain_id,
  -- Of its own type: converted, no index would know it.
  log.block_number,
  block.block_timestamp AS block_time,
  log.transaction_index,
  log.log_index,
  analytics.hex(log.transaction_hash) AS transaction_hash,
  analytics.hex(log.address) AS contract,
  analytics.hex(log.topic0) AS topic0,
  analytics.hex(log.topic1) AS topic1,
  analytics.hex(log.topic2) AS topic2,
  analytics.hex(log.topic3) AS topic3,
  analytics.hex(log.data) AS data,
  log.address AS contract_bytes,
  log.topic0 AS topic0_bytes,
  -- By this contracts are found, beside their bytes.
  log.address_key AS contract_key
FROM public.logs AS log
LEFT JOIN public.blocks AS block ON block.chain_id = log.chain_id AND block.block_number = log.block_number;--> statement-breakpoint
CREATE VIEW analytics.internal_transfers AS
SELECT
  moved.chain_id,
  -- Of its own type: converted, no index would know it.
  moved.block_number,
  block.block_timestamp AS block_time,
  moved.transaction_index,
  moved.trace_index,
  analytics.hex(moved.transaction_hash) AS transaction_hash,
  moved.type,
  analytics.hex(moved.account) AS account,
  analytics.hex(moved.counterparty) AS counterparty,
  CASE moved.direction WHEN 0 THEN 'out' WHEN 1 THEN 'in' ELSE 'self' END AS direction,
  analytics.amount(moved.value, 18::smallint) AS value,
  moved.value AS base_units,
  moved.account AS account_bytes,
  -- By this accounts are found, beside their bytes.
  moved.account_key
FROM public.internal_transfers AS moved
LEFT JOIN public.blocks AS block ON block.chain_id = moved.chain_id AND block.block_number = moved.block_number;--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.logs, analytics.internal_transfers TO chainstead_reader;
  END IF;
END
$$;
