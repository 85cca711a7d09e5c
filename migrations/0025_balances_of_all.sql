-- What wallets hold is kept for those who were asked about (0024). For SQL it is what transfers add up to.
DROP VIEW analytics.nft_holdings;--> statement-breakpoint
DROP VIEW analytics.nft_owners;--> statement-breakpoint
DROP TABLE "nft_balances";--> statement-breakpoint
DROP TABLE "nft_holdings";--> statement-breakpoint
DELETE FROM derived_states WHERE state = 'nft-balances';--> statement-breakpoint
CREATE VIEW analytics.nft_owners AS
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
  SELECT side.chain_id, side.collection_key, side.token_address, side.token_id, side.owner_key, side.owner, sum(side.amount) AS amount
  FROM (
    SELECT chain_id, collection_key, token_address, token_id, public.address_key(to_address) AS owner_key, to_address AS owner, amount
    FROM public.nft_transfers_all WHERE from_address <> to_address AND last_token_id IS NULL
    UNION ALL
    SELECT chain_id, collection_key, token_address, token_id, public.address_key(from_address), from_address, -amount
    FROM public.nft_transfers_all WHERE from_address <> to_address AND last_token_id IS NULL
  ) AS side
  WHERE side.owner <> '\x0000000000000000000000000000000000000000'::bytea
  GROUP BY side.chain_id, side.collection_key, side.token_address, side.token_id, side.owner_key, side.owner
) AS owned
LEFT JOIN public.tokens AS token ON token.address = owned.token_address AND token.chain_id = owned.chain_id
-- Below zero while history is incomplete.
WHERE owned.amount > 0;--> statement-breakpoint
CREATE VIEW analytics.nft_holdings AS
SELECT
  holding.chain_id,
  holding.owner AS wallet,
  holding.token_address,
  holding.collection_name,
  holding.ids_held,
  holding.possible_spam,
  holding.owner_bytes AS wallet_bytes,
  holding.token_bytes,
  holding.owner_key AS wallet_key,
  holding.collection_key
FROM (
  SELECT chain_id, owner, token_address, collection_name, possible_spam, owner_bytes, token_bytes, owner_key, collection_key, count(*) AS ids_held
  FROM analytics.nft_owners
  GROUP BY chain_id, owner, token_address, collection_name, possible_spam, owner_bytes, token_bytes, owner_key, collection_key
) AS holding;--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.nft_owners, analytics.nft_holdings TO chainstead_reader;
  END IF;
END
$$;
