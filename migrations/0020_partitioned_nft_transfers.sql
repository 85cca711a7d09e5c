-- NFT transfers by ranges of blocks, with keys of eight bytes, as ERC-20's since 0019 (docs/storage-layout.md). Quick on a database of any
-- size: rows of the present table are moved piece by piece while the program runs, and until then both tables are read.
--
-- Four bytes of an id tell a collection's tokens apart, whether ids count from 0, are hashes, or hold an address and a number. Equal ids
-- have equal ones, however they are written.
CREATE FUNCTION "token_id_key"(token_id numeric) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN hash_numeric(token_id);--> statement-breakpoint
-- It shows columns that move to the table of blocks. A view that somebody made over it would be lost: then the migration fails.
DROP VIEW analytics.nft_transfers;--> statement-breakpoint
ALTER TABLE "nft_transfers" RENAME TO "nft_transfers_unpartitioned";--> statement-breakpoint
-- Its name was cut to 63 characters.
ALTER TABLE "nft_transfers_unpartitioned"
  RENAME CONSTRAINT "nft_transfers_token_address_chain_id_block_number_transaction_i" TO "nft_transfers_unpartitioned_pkey";--> statement-breakpoint
-- A bulk load may have left this one out.
ALTER INDEX IF EXISTS "nft_transfers_by_token" RENAME TO "nft_transfers_unpartitioned_by_token";--> statement-breakpoint
ALTER INDEX "nft_transfers_by_block" RENAME TO "nft_transfers_unpartitioned_by_block";--> statement-breakpoint
CREATE TABLE "nft_transfers" (
	"collection_key" bigint NOT NULL,
	"chain_id" bigint NOT NULL,
	"block_number" integer NOT NULL,
	"transaction_index" integer NOT NULL,
	"log_index" integer NOT NULL,
	"item" integer NOT NULL,
	"kind" smallint NOT NULL,
	"token_address" "bytea" NOT NULL,
	"token_id" numeric(78,0) NOT NULL,
	"last_token_id" numeric(78,0),
	"from_address" "bytea" NOT NULL,
	"to_address" "bytea" NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"operator" "bytea",
	"transaction_hash" "bytea" NOT NULL,
	CONSTRAINT "nft_transfers_pkey" PRIMARY KEY("collection_key","chain_id","block_number","transaction_index","log_index","item")
) PARTITION BY RANGE ("chain_id", "block_number");--> statement-breakpoint
CREATE INDEX "nft_transfers_by_token" ON "nft_transfers"
  USING btree ("collection_key", token_id_key("token_id"), "block_number", "transaction_index", "log_index", "item");--> statement-breakpoint
CREATE INDEX "nft_transfers_by_block" ON "nft_transfers"
  USING brin ("chain_id", "block_number" int4_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);--> statement-breakpoint
-- The rows of both tables, for the view below and for what is derived from them.
DO $$
BEGIN
  IF EXISTS (SELECT FROM nft_transfers_unpartitioned) THEN
    CREATE VIEW nft_transfers_all AS
    SELECT
      collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id, last_token_id,
      from_address, to_address, amount, operator, transaction_hash
    FROM nft_transfers
    UNION ALL
    SELECT
      address_key(token_address), chain_id, block_number::integer, transaction_index, log_index, item, kind, token_address, token_id,
      last_token_id, from_address, to_address, amount, operator, transaction_hash
    FROM nft_transfers_unpartitioned;
  ELSE
    DROP TABLE nft_transfers_unpartitioned;
    CREATE VIEW nft_transfers_all AS
    SELECT
      collection_key, chain_id, block_number, transaction_index, log_index, item, kind, token_address, token_id, last_token_id,
      from_address, to_address, amount, operator, transaction_hash
    FROM nft_transfers;
  END IF;
END
$$;--> statement-breakpoint
-- What a collection's rows are found by, beside its bytes; and a token's, beside its id.
CREATE FUNCTION analytics.collection_key(bytes bytea) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.address_key(bytes);--> statement-breakpoint
CREATE FUNCTION analytics.collection_key(hex text) RETURNS bigint
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.address_key(analytics.bytes(hex));--> statement-breakpoint
CREATE FUNCTION analytics.token_id_key(token_id numeric) RETURNS integer
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN public.token_id_key(token_id);--> statement-breakpoint
CREATE VIEW analytics.nft_transfers AS
SELECT
  transfer.chain_id,
  -- Of its own type: converted, no index would know it.
  transfer.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(transfer.transaction_hash) AS transaction_hash,
  transfer.transaction_index,
  transfer.log_index,
  transfer.item,
  CASE transfer.kind
    WHEN 0 THEN 'erc721' WHEN 1 THEN 'erc1155-single' WHEN 2 THEN 'erc1155-batch'
    WHEN 3 THEN 'erc2309' WHEN 4 THEN 'cryptopunks' WHEN 5 THEN 'unindexed'
  END AS event,
  analytics.hex(transfer.token_address) AS token_address,
  token.name AS collection_name,
  transfer.token_id,
  -- Last id of a consecutive mint that is kept as one row.
  transfer.last_token_id,
  analytics.hex(transfer.from_address) AS from_address,
  analytics.hex(transfer.to_address) AS to_address,
  transfer.amount,
  analytics.hex(transfer.operator) AS operator,
  coalesce(token.possible_spam, false) AS possible_spam,
  transfer.token_address AS token_bytes,
  transfer.from_address AS from_bytes,
  transfer.to_address AS to_bytes,
  transfer.collection_key,
  public.token_id_key(transfer.token_id) AS token_id_key
FROM public.nft_transfers_all AS transfer
LEFT JOIN public.blocks AS block ON block.chain_id = transfer.chain_id AND block.block_number = transfer.block_number
LEFT JOIN public.tokens AS token ON token.address = transfer.token_address AND token.chain_id = transfer.chain_id;--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.nft_transfers TO chainstead_reader;
  END IF;
END
$$;
