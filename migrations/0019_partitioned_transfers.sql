-- Transfers by ranges of blocks, with keys of eight bytes (docs/storage-layout.md). Quick on a database of any size: rows of the
-- present table are moved piece by piece while the program runs, and until then both tables are read.
--
-- packages/db address-key.ts has the same. Of both ends: addresses that nobody has a key of differ at one end only.
CREATE FUNCTION "address_key"(address bytea) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ('x' || encode(substring(address FROM 1 FOR 4) || substring(address FROM 17 FOR 4), 'hex'))::bit(64)::bigint;--> statement-breakpoint
-- Four bytes of a token tell a wallet's tokens apart, and take four bytes in the index: the last ones, since the first are alike for those of a chain.
CREATE FUNCTION "token_key"(token bytea) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (get_byte(token, 16) << 24) | (get_byte(token, 17) << 16) | (get_byte(token, 18) << 8) | get_byte(token, 19);--> statement-breakpoint
-- Theirs are the columns that move to the table of blocks. Views that somebody made over them would be lost: then the migration fails.
DROP VIEW analytics.erc20_transfers;--> statement-breakpoint
DROP VIEW analytics.wallet_transfers;--> statement-breakpoint
ALTER TABLE "erc20_transfers" RENAME TO "erc20_transfers_unpartitioned";--> statement-breakpoint
-- Its name was cut to 63 characters.
ALTER TABLE "erc20_transfers_unpartitioned"
  RENAME CONSTRAINT "erc20_transfers_account_chain_id_block_number_transaction_index" TO "erc20_transfers_unpartitioned_pkey";--> statement-breakpoint
-- A bulk load may have left this one out.
ALTER INDEX IF EXISTS "erc20_transfers_by_token" RENAME TO "erc20_transfers_unpartitioned_by_token";--> statement-breakpoint
ALTER INDEX "erc20_transfers_by_block" RENAME TO "erc20_transfers_unpartitioned_by_block";--> statement-breakpoint
CREATE TABLE "erc20_transfers" (
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
	CONSTRAINT "erc20_transfers_pkey" PRIMARY KEY("account_key","chain_id","block_number","transaction_index","log_index","direction")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "erc20_transfers_by_token" ON "erc20_transfers"
  USING btree ("account_key", token_key("token"), "block_number", "transaction_index", "log_index");--> statement-breakpoint
CREATE INDEX "erc20_transfers_by_block" ON "erc20_transfers"
  USING brin ("chain_id", "block_number" int4_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
-- Makes the partition of some heights of a chain, from inclusive, to exclusive (null: open above). As the owner of the tables, so that
-- the program may write as a role that can change no schema otherwise. Attached, not made as one: that would lock out readers.
CREATE FUNCTION "attach_partition"(parent regclass, chain_id bigint, from_block integer, to_block integer) RETURNS text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  part text;
BEGIN
  SELECT format('%I.%I', relnamespace::regnamespace, format('%s_%s_%s', relname, chain_id, from_block)) INTO STRICT part
    FROM pg_class WHERE oid = parent AND relkind = 'p';
  EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, parent);
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s, %s) TO (%s, %s)',
    parent, part, chain_id, from_block, chain_id, coalesce(to_block::text, 'MAXVALUE'));
  RETURN part;
END
$$;--> statement-breakpoint
REVOKE EXECUTE ON FUNCTION "attach_partition" FROM PUBLIC;--> statement-breakpoint
-- The rows of both tables, for the views below.
DO $$
BEGIN
  IF EXISTS (SELECT FROM erc20_transfers_unpartitioned) THEN
    CREATE VIEW erc20_transfers_all AS
    SELECT
      account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash
    FROM erc20_transfers
    UNION ALL
    SELECT
      address_key(account), chain_id, block_number::integer, transaction_index, log_index, direction, account, token, counterparty,
      value, transaction_hash
    FROM erc20_transfers_unpartitioned;
  ELSE
    DROP TABLE erc20_transfers_unpartitioned;
    CREATE VIEW erc20_transfers_all AS
    SELECT
      account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash
    FROM erc20_transfers;
  END IF;
END
$$;--> statement-breakpoint
-- What a wallet's rows are found by, beside its bytes.
CREATE FUNCTION analytics.wallet_key(bytes bytea) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.address_key(bytes);--> statement-breakpoint
CREATE FUNCTION analytics.wallet_key(hex text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.address_key(analytics.bytes(hex));--> statement-breakpoint
CREATE VIEW analytics.erc20_transfers AS
SELECT
  transfer.chain_id,
  -- Of its own type: converted, no index would know it.
  transfer.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(transfer.transaction_hash) AS transaction_hash,
  transfer.transaction_index,
  transfer.log_index,
  analytics.hex(transfer.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  analytics.hex(transfer.account) AS from_address,
  analytics.hex(transfer.counterparty) AS to_address,
  analytics.amount(transfer.value, token.decimals) AS amount,
  transfer.value AS base_units,
  coalesce(token.possible_spam, false) AS possible_spam,
  coalesce(token.verified, false) AS verified,
  transfer.token AS token_bytes,
  transfer.account AS from_bytes,
  transfer.counterparty AS to_bytes,
  transfer.account_key AS from_key
FROM public.erc20_transfers_all AS transfer
LEFT JOIN public.blocks AS block ON block.chain_id = transfer.chain_id AND block.block_number = transfer.block_number
LEFT JOIN public.tokens AS token ON token.address = transfer.token AND token.chain_id = transfer.chain_id
-- The sender's side, and self-transfers; the receiver's side says the same again.
WHERE transfer.direction <> 1
  AND token.standard IS DISTINCT FROM 'erc721' AND token.standard IS DISTINCT FROM 'erc1155';--> statement-breakpoint
CREATE VIEW analytics.wallet_transfers AS
SELECT
  transfer.chain_id,
  analytics.hex(transfer.account) AS wallet,
  CASE transfer.direction WHEN 0 THEN 'out' WHEN 1 THEN 'in' ELSE 'self' END AS direction,
  analytics.hex(transfer.counterparty) AS counterparty,
  transfer.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(transfer.transaction_hash) AS transaction_hash,
  transfer.transaction_index,
  transfer.log_index,
  analytics.hex(transfer.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  analytics.amount(transfer.value, token.decimals) AS amount,
  -- What the transfer did to the wallet's balance.
  analytics.amount(CASE transfer.direction WHEN 0 THEN -transfer.value WHEN 1 THEN transfer.value ELSE 0 END, token.decimals) AS change,
  transfer.value AS base_units,
  coalesce(token.possible_spam, false) AS possible_spam,
  coalesce(token.verified, false) AS verified,
  transfer.account AS wallet_bytes,
  transfer.token AS token_bytes,
  transfer.counterparty AS counterparty_bytes,
  transfer.account_key AS wallet_key
FROM public.erc20_transfers_all AS transfer
LEFT JOIN public.blocks AS block ON block.chain_id = transfer.chain_id AND block.block_number = transfer.block_number
LEFT JOIN public.tokens AS token ON token.address = transfer.token AND token.chain_id = transfer.chain_id
WHERE token.standard IS DISTINCT FROM 'erc721' AND token.standard IS DISTINCT FROM 'erc1155';--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.erc20_transfers, analytics.wallet_transfers TO chainstead_reader;
  END IF;
END
$$;
