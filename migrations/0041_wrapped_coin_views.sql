-- Balances of a chain's wrapped coin, told as those of other tokens where deposits and withdrawals are indexed of the same blocks; and bridged ether, which is a token
-- like others.
CREATE OR REPLACE VIEW analytics.erc20_balances AS
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
-- The chain's wrapped coin: what is deposited and withdrawn of it is no transfer, and indexed by itself.
LEFT JOIN public.payment_tokens AS wrapped ON wrapped.token_address = held.token AND wrapped.chain_id = held.chain_id
  AND wrapped.is_ether = (
    SELECT native.is_ether FROM public.payment_tokens AS native
    WHERE native.chain_id = held.chain_id AND native.token_address = '\x0000000000000000000000000000000000000000'::bytea
  )
LEFT JOIN LATERAL (
  -- As of transfers, in kept_subjects.
  SELECT max(first_block) FILTER (WHERE coalesce(reached < first_block - 1, true)) AS from_block, max(last_block) AS to_block
  FROM (
    SELECT first_block, last_block,
      max(last_block) OVER (ORDER BY first_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
    FROM (
      SELECT of_chain.first_block, of_chain.last_block FROM public.sync_ranges AS of_chain
      WHERE wrapped.token_address IS NOT NULL AND of_chain.chain_id = kept.chain_id AND of_chain.dataset = 'wrapped-coin-moves'
      UNION ALL
      SELECT own.first_block, own.last_block FROM public.subject_ranges AS own
      WHERE wrapped.token_address IS NOT NULL AND own.chain_id = kept.chain_id AND own.subject = kept.address_bytes
        AND own.dataset = 'wrapped-coin-moves' AND own.kind = 'wallet'
    ) AS ranges
  ) AS joined
) AS coin ON true
CROSS JOIN LATERAL (
  -- From which block on all that moved is known: of the wrapped coin both are to be, up to the same block.
  SELECT CASE WHEN wrapped.token_address IS NULL THEN kept.from_block
    WHEN coin.to_block = kept.to_block THEN greatest(kept.from_block, coin.from_block) END AS from_block
) AS counted
CROSS JOIN LATERAL (
  SELECT coalesce(known.class = 'sum', token.verified, false) AS adds_up,
    kept.is_built AND held.anchor_block + 1 >= counted.from_block AND held.anchor_block <= kept.to_block AS is_sound
) AS judged
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN known.class = 'none' THEN NULL
    WHEN held.anchored_at IS NULL THEN CASE WHEN adds_up AND kept.is_built AND counted.from_block = 0 AND held.total >= 0 THEN 'transfers' END
    WHEN known.class IS DISTINCT FROM 'live' AND is_sound AND (adds_up OR held.since = 0)
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
CREATE OR REPLACE VIEW analytics.erc20_holders AS
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
-- The chain's wrapped coin: what is deposited and withdrawn of it is no transfer, and indexed by itself.
LEFT JOIN public.payment_tokens AS wrapped ON wrapped.token_address = held.token AND wrapped.chain_id = held.chain_id
  AND wrapped.is_ether = (
    SELECT native.is_ether FROM public.payment_tokens AS native
    WHERE native.chain_id = held.chain_id AND native.token_address = '\x0000000000000000000000000000000000000000'::bytea
  )
LEFT JOIN LATERAL (
  -- As of transfers, in kept_subjects.
  SELECT max(first_block) FILTER (WHERE coalesce(reached < first_block - 1, true)) AS from_block, max(last_block) AS to_block
  FROM (
    SELECT first_block, last_block,
      max(last_block) OVER (ORDER BY first_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
    FROM (
      SELECT of_chain.first_block, of_chain.last_block FROM public.sync_ranges AS of_chain
      WHERE wrapped.token_address IS NOT NULL AND of_chain.chain_id = kept.chain_id AND of_chain.dataset = 'wrapped-coin-moves'
      UNION ALL
      SELECT own.first_block, own.last_block FROM public.subject_ranges AS own
      WHERE wrapped.token_address IS NOT NULL AND own.chain_id = kept.chain_id AND own.subject = kept.address_bytes
        AND own.dataset = 'wrapped-coin-moves' AND own.kind = 'contract'
    ) AS ranges
  ) AS joined
) AS coin ON true
CROSS JOIN LATERAL (
  -- From which block on all that moved is known: of the wrapped coin both are to be, up to the same block.
  SELECT CASE WHEN wrapped.token_address IS NULL THEN kept.from_block
    WHEN coin.to_block = kept.to_block THEN greatest(kept.from_block, coin.from_block) END AS from_block
) AS counted
CROSS JOIN LATERAL (
  SELECT coalesce(known.class = 'sum', token.verified, false) AS adds_up,
    kept.is_built AND held.anchor_block + 1 >= counted.from_block AND held.anchor_block <= kept.to_block AS is_sound
) AS judged
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN known.class = 'none' THEN NULL
    WHEN held.anchored_at IS NULL THEN CASE WHEN adds_up AND kept.is_built AND counted.from_block <= coalesce(token.created_block, 0)
      AND held.total >= 0 AND coalesce(counts.contradictions, 0) = 0 THEN 'transfers' END
    WHEN known.class IS DISTINCT FROM 'live' AND is_sound AND (adds_up OR held.since = 0)
      AND held.anchor_value + held.since >= 0 THEN 'contract and transfers'
    ELSE 'contract'
  END AS source
) AS sourced
CROSS JOIN LATERAL (
  SELECT sourced.source,
    CASE sourced.source WHEN 'contract' THEN held.anchor_value WHEN 'contract and transfers' THEN held.anchor_value + held.since
      WHEN 'transfers' THEN held.total END AS base_units
) AS told
WHERE kept.state = 'erc20-token-holders';
