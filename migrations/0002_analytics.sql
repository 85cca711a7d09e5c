-- For people who come with a SQL client (docs/analytics.md): addresses and hashes as the 0x text that explorers show, amounts
-- as decimal numbers, names joined in. Columns that end in _bytes hold the stored form, which the indexes know.
CREATE SCHEMA IF NOT EXISTS analytics;--> statement-breakpoint
CREATE FUNCTION analytics.hex(bytes bytea) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN '0x' || encode(bytes, 'hex');--> statement-breakpoint
CREATE FUNCTION analytics.bytes(hex text) RETURNS bytea
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN decode(substr(hex, 3), 'hex');--> statement-breakpoint
-- Multiplied, not divided: division of numerics rounds, and 18 decimals of a large amount would be lost.
CREATE FUNCTION analytics.amount(base_units numeric, decimals smallint) RETURNS numeric
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN trim_scale(base_units * ('1e-' || decimals)::numeric);--> statement-breakpoint
CREATE VIEW analytics.tokens AS
SELECT
  chain_id,
  analytics.hex(address) AS address,
  standard,
  name,
  symbol,
  decimals,
  logo,
  verified,
  possible_spam,
  facts_status,
  address AS address_bytes
FROM public.tokens;--> statement-breakpoint
CREATE VIEW analytics.erc20_transfers AS
SELECT
  transfer.chain_id,
  transfer.block_number,
  transfer.block_timestamp AS block_time,
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
  transfer.counterparty AS to_bytes
FROM public.erc20_transfers AS transfer
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
  transfer.block_timestamp AS block_time,
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
  transfer.counterparty AS counterparty_bytes
FROM public.erc20_transfers AS transfer
LEFT JOIN public.tokens AS token ON token.address = transfer.token AND token.chain_id = transfer.chain_id
WHERE token.standard IS DISTINCT FROM 'erc721' AND token.standard IS DISTINCT FROM 'erc1155';--> statement-breakpoint
CREATE VIEW analytics.blocks AS
SELECT
  chain_id,
  block_number,
  analytics.hex(block_hash) AS block_hash,
  analytics.hex(parent_hash) AS parent_hash,
  block_timestamp AS block_time
FROM public.blocks;--> statement-breakpoint
CREATE VIEW analytics.coverage AS
SELECT
  chain_id,
  dataset,
  first_block,
  last_block,
  last_block - first_block + 1 AS blocks,
  proof,
  proof_reason,
  upstream
FROM public.sync_ranges;--> statement-breakpoint
CREATE VIEW analytics.address_labels AS
SELECT
  -- 0: on every chain.
  chain_id,
  analytics.hex(address) AS address,
  label,
  entity,
  entity_logo,
  source,
  address AS address_bytes
FROM public.address_labels;--> statement-breakpoint
CREATE VIEW analytics.upstream_faults AS
SELECT chain_id, upstream, kind, block_number, occurrences, facts, seen_at
FROM public.upstream_faults;--> statement-breakpoint
COMMENT ON SCHEMA analytics IS 'Chainstead''s rows in readable form. Read-only role: chainstead_reader';--> statement-breakpoint
-- Roles belong to the server, not to the database: another database may have made this one, may be making it now, or the
-- user that migrates may not be allowed to. The views are there in any case.
DO $$
BEGIN
  BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
      CREATE ROLE chainstead_reader NOLOGIN;
    END IF;
  EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
      NULL;
    WHEN insufficient_privilege THEN
      RAISE NOTICE 'Role chainstead_reader was not created: % may not create roles. Create it and grant it SELECT on schema analytics.', current_user;
  END;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT USAGE ON SCHEMA analytics TO chainstead_reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA analytics TO chainstead_reader;
    ALTER DEFAULT PRIVILEGES IN SCHEMA analytics GRANT SELECT ON TABLES TO chainstead_reader;
  END IF;
END
$$;
