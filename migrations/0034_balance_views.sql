-- Of whom balances and holders are kept, and what (docs/analytics.md): of those that somebody asked about, and from which block on.
CREATE VIEW analytics.kept_subjects AS
SELECT
  kept.chain_id,
  -- What is kept; derived_states says of which dataset.
  kept.state,
  analytics.hex(kept.subject) AS address,
  -- False while its rows are still being counted: then what is kept says nothing.
  kept.built_to IS NULL AND NOT kept.is_stale AS is_built,
  covered.from_block,
  covered.to_block,
  kept.asked_at,
  kept.subject AS address_bytes
FROM public.kept_subjects AS kept
LEFT JOIN public.derived_states AS known ON known.chain_id = kept.chain_id AND known.state = kept.state
CROSS JOIN LATERAL (
  -- The unbroken run of blocks that ends with the newest, of the chain or of a history that was read of the address alone.
  SELECT max(first_block) FILTER (WHERE coalesce(reached < first_block - 1, true)) AS from_block, max(last_block) AS to_block
  FROM (
    SELECT first_block, last_block,
      max(last_block) OVER (ORDER BY first_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
    FROM (
      SELECT of_chain.first_block, of_chain.last_block FROM public.sync_ranges AS of_chain
      WHERE of_chain.chain_id = kept.chain_id AND of_chain.dataset = known.dataset
      UNION ALL
      SELECT own.first_block, own.last_block FROM public.subject_ranges AS own
      WHERE own.chain_id = kept.chain_id AND own.subject = kept.subject AND own.dataset = known.dataset
        AND own.kind = CASE WHEN kept.state LIKE '%-wallet-%' THEN 'wallet' ELSE 'contract' END
    ) AS ranges
  ) AS joined
) AS covered;--> statement-breakpoint
CREATE VIEW analytics.erc20_balances AS
SELECT
  held.chain_id,
  analytics.hex(held.wallet) AS wallet,
  analytics.hex(held.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  analytics.amount(told.base_units, token.decimals) AS balance,
  -- Null where nobody knows: the contract was not asked yet, tells no balances, or upstreams contradict each other.
  told.base_units,
  -- After which block that is.
  CASE told.source WHEN 'contract' THEN held.anchor_block ELSE CASE WHEN told.base_units IS NOT NULL THEN kept.to_block END END AS balance_block,
  -- contract: what it said at that block; contract and transfers: and what has moved since; transfers: all of them added up.
  told.source,
  held.total AS transferred_base_units,
  held.anchored_at AS read_at,
  kept.from_block,
  kept.to_block,
  kept.is_built,
  coalesce(token.verified, false) AS verified,
  coalesce(token.possible_spam, false) AS possible_spam,
  held.wallet AS wallet_bytes,
  held.token AS token_bytes
FROM analytics.kept_subjects AS kept
JOIN public.erc20_wallet_tokens AS held ON held.wallet = kept.address_bytes AND held.chain_id = kept.chain_id
LEFT JOIN public.tokens AS token ON token.address = held.token AND token.chain_id = held.chain_id
LEFT JOIN public.erc20_token_classes AS known ON known.token = held.token AND known.chain_id = held.chain_id
-- Coins in the form of a token: they come and go without transfers.
LEFT JOIN public.payment_tokens AS payment ON payment.token_address = held.token AND payment.chain_id = held.chain_id
CROSS JOIN LATERAL (
  SELECT coalesce(known.class = 'sum', token.verified, false) AND payment.token_address IS NULL AS adds_up,
    kept.is_built AND held.anchor_block + 1 >= kept.from_block AND held.anchor_block <= kept.to_block AS is_sound
) AS judged
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN known.class = 'none' THEN NULL
    WHEN held.anchored_at IS NULL THEN CASE WHEN adds_up AND kept.is_built AND kept.from_block = 0 AND held.total >= 0 THEN 'transfers' END
    WHEN known.class IS DISTINCT FROM 'live' AND payment.token_address IS NULL AND is_sound AND (adds_up OR held.since = 0)
      AND held.anchor_value + held.since >= 0 THEN 'contract and transfers'
    ELSE 'contract'
  END AS source
) AS sourced
CROSS JOIN LATERAL (
  SELECT sourced.source,
    CASE sourced.source WHEN 'contract' THEN held.anchor_value WHEN 'contract and transfers' THEN held.anchor_value + held.since
      WHEN 'transfers' THEN held.total END AS base_units
) AS told
WHERE kept.state = 'erc20-wallet-tokens' AND coalesce(token.standard NOT IN ('erc721', 'erc1155'), true);--> statement-breakpoint
CREATE VIEW analytics.erc20_holders AS
SELECT
  held.chain_id,
  analytics.hex(held.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  analytics.hex(held.account) AS holder,
  analytics.amount(told.base_units, token.decimals) AS balance,
  -- As in erc20_balances.
  told.base_units,
  CASE told.source WHEN 'contract' THEN held.anchor_block ELSE CASE WHEN told.base_units IS NOT NULL THEN kept.to_block END END AS balance_block,
  told.source,
  round(100 * told.base_units / nullif(token.total_supply, 0), 2) AS percent_of_supply,
  held.total AS transferred_base_units,
  held.moves AS transfers,
  held.first_block AS first_received_block,
  held.anchored_at AS read_at,
  kept.from_block,
  kept.to_block,
  kept.is_built,
  held.account AS holder_bytes,
  held.token AS token_bytes
FROM analytics.kept_subjects AS kept
JOIN public.erc20_holders AS held ON held.token = kept.address_bytes AND held.chain_id = kept.chain_id
LEFT JOIN public.erc20_holder_counts AS counts ON counts.token = held.token AND counts.chain_id = held.chain_id
LEFT JOIN public.tokens AS token ON token.address = held.token AND token.chain_id = held.chain_id
LEFT JOIN public.erc20_token_classes AS known ON known.token = held.token AND known.chain_id = held.chain_id
LEFT JOIN public.payment_tokens AS payment ON payment.token_address = held.token AND payment.chain_id = held.chain_id
CROSS JOIN LATERAL (
  SELECT coalesce(known.class = 'sum', token.verified, false) AND payment.token_address IS NULL AS adds_up,
    kept.is_built AND held.anchor_block + 1 >= kept.from_block AND held.anchor_block <= kept.to_block AS is_sound
) AS judged
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN known.class = 'none' THEN NULL
    WHEN held.anchored_at IS NULL THEN CASE WHEN adds_up AND kept.is_built AND kept.from_block <= coalesce(token.created_block, 0)
      AND held.total >= 0 AND coalesce(counts.contradictions, 0) = 0 THEN 'transfers' END
    WHEN known.class IS DISTINCT FROM 'live' AND payment.token_address IS NULL AND is_sound AND (adds_up OR held.since = 0)
      AND held.anchor_value + held.since >= 0 THEN 'contract and transfers'
    ELSE 'contract'
  END AS source
) AS sourced
CROSS JOIN LATERAL (
  SELECT sourced.source,
    CASE sourced.source WHEN 'contract' THEN held.anchor_value WHEN 'contract and transfers' THEN held.anchor_value + held.since
      WHEN 'transfers' THEN held.total END AS base_units
) AS told
WHERE kept.state = 'erc20-token-holders';--> statement-breakpoint
CREATE VIEW analytics.erc20_holder_counts AS
SELECT
  counts.chain_id,
  analytics.hex(counts.token) AS token_address,
  token.symbol AS token_symbol,
  token.name AS token_name,
  -- Accounts of which the transfers add up to more than nothing.
  counts.holders,
  counts.transfers,
  -- Minted less burned.
  analytics.amount(counts.supply, token.decimals) AS supply,
  nullif(counts.top_block, -1) AS last_transfer_block,
  -- Readings of contracts, and those of them that were not what transfers add up to.
  counts.readings,
  counts.contradictions,
  kept.from_block,
  kept.to_block,
  kept.is_built,
  counts.token AS token_bytes
FROM analytics.kept_subjects AS kept
JOIN public.erc20_holder_counts AS counts ON counts.token = kept.address_bytes AND counts.chain_id = kept.chain_id
LEFT JOIN public.tokens AS token ON token.address = counts.token AND token.chain_id = counts.chain_id
WHERE kept.state = 'erc20-token-holders';--> statement-breakpoint
-- Default privileges are those of the user that made them: another one may migrate now.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON analytics.kept_subjects, analytics.erc20_balances, analytics.erc20_holders, analytics.erc20_holder_counts TO chainstead_reader;
  END IF;
END
$$;
