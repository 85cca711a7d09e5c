ALTER TABLE "nft_wallet_tokens" ADD COLUMN "newest" bigint;--> statement-breakpoint
-- As what is kept of wallets and collections: one thing is its newest receiver's, since it may exist before its first transfer.
CREATE OR REPLACE VIEW analytics.nft_owners AS
SELECT
  owned.chain_id,
  analytics.hex(owned.token_address) AS token_address,
  token.name AS collection_name,
  owned.token_id,
  analytics.hex(owned.owner) AS owner,
  owned.amount,
  coalesce(token.possible_spam, false) AS possible_spam,
  owned.token_address AS token_bytes,
  owned.owner AS owner_bytes,
  -- By these owners and collections are found, beside their bytes.
  owned.owner_key,
  owned.collection_key
FROM (
  SELECT side.chain_id, side.collection_key, side.token_address, side.token_id, side.owner_key, side.owner,
    -- Of ERC-1155 what moved adds up; of one thing the newest transfer that somebody is a side of tells, whose place is odd where it was received.
    sum(CASE WHEN side.place IS NULL THEN side.amount ELSE 0 END) + coalesce(max(side.place) & 1, 0) AS amount
  FROM (
    SELECT chain_id, collection_key, token_address, token_id, public.address_key(to_address) AS owner_key, to_address AS owner, amount,
      CASE WHEN kind NOT IN (1, 2) THEN (block_number::bigint << 32) + (log_index::bigint << 1) + 1 END AS place
    FROM public.nft_transfers_all WHERE last_token_id IS NULL AND (from_address <> to_address OR kind NOT IN (1, 2))
    UNION ALL
    SELECT chain_id, collection_key, token_address, token_id, public.address_key(from_address), from_address, -amount,
      CASE WHEN kind NOT IN (1, 2) THEN (block_number::bigint << 32) + (log_index::bigint << 1) END
    FROM public.nft_transfers_all WHERE last_token_id IS NULL AND from_address <> to_address
  ) AS side
  WHERE side.owner <> '\x0000000000000000000000000000000000000000'::bytea
  GROUP BY side.chain_id, side.collection_key, side.token_address, side.token_id, side.owner_key, side.owner
) AS owned
LEFT JOIN public.tokens AS token ON token.address = owned.token_address AND token.chain_id = owned.chain_id
-- Below zero while history is incomplete.
WHERE owned.amount > 0;
