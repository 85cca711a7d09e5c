-- Views that a cluster of Citus can plan, with the same columns and rows as before: what is on the coordinator alone is a subquery that names nothing else, and
-- nothing is looked up row by row in a table whose rows lie on other servers.
CREATE OR REPLACE VIEW analytics.kept_subjects AS
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
      -- No rows: with them Citus leaves what is local to the coordinator, as correlated UNIONs of local tables alone fail there.
      UNION ALL
      SELECT NULL::bigint, NULL::bigint WHERE false
    ) AS ranges
  ) AS joined
) AS covered;--> statement-breakpoint
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
FROM (
  -- All that is read from the coordinator alone, which a cluster does first, as a whole.
  SELECT of_subject.*, coin.from_block AS coin_from_block, coin.to_block AS coin_to_block
  FROM analytics.kept_subjects AS of_subject
  CROSS JOIN LATERAL (
    -- As of transfers, in kept_subjects: of what is deposited and withdrawn of the chain's wrapped coin.
    SELECT max(first_block) FILTER (WHERE coalesce(reached < first_block - 1, true)) AS from_block, max(last_block) AS to_block
    FROM (
      SELECT first_block, last_block,
        max(last_block) OVER (ORDER BY first_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
      FROM (
        SELECT of_chain.first_block, of_chain.last_block FROM public.sync_ranges AS of_chain
        WHERE of_chain.chain_id = of_subject.chain_id AND of_chain.dataset = 'wrapped-coin-moves'
        UNION ALL
        SELECT own.first_block, own.last_block FROM public.subject_ranges AS own
        WHERE own.chain_id = of_subject.chain_id AND own.subject = of_subject.address_bytes
          AND own.dataset = 'wrapped-coin-moves' AND own.kind = 'wallet'
        UNION ALL
        SELECT NULL::bigint, NULL::bigint WHERE false
      ) AS ranges
    ) AS joined
  ) AS coin
  WHERE of_subject.state = 'erc20-wallet-tokens'
) AS kept
JOIN public.erc20_wallet_tokens AS held ON held.wallet = kept.address_bytes AND held.chain_id = kept.chain_id
LEFT JOIN public.tokens AS token ON token.address = held.token AND token.chain_id = held.chain_id
LEFT JOIN public.erc20_token_classes AS known ON known.token = held.token AND known.chain_id = held.chain_id
-- The chain's wrapped coin: what is deposited and withdrawn of it is no transfer, and indexed by itself.
LEFT JOIN public.payment_tokens AS native
  ON native.token_address = '\x0000000000000000000000000000000000000000'::bytea AND native.chain_id = held.chain_id
LEFT JOIN public.payment_tokens AS wrapped
  ON wrapped.token_address = held.token AND wrapped.chain_id = held.chain_id AND wrapped.is_ether = native.is_ether
CROSS JOIN LATERAL (
  -- From which block on all that moved is known: of the wrapped coin both are to be, up to the same block.
  SELECT CASE WHEN wrapped.token_address IS NULL THEN kept.from_block
    WHEN kept.coin_to_block = kept.to_block THEN greatest(kept.from_block, kept.coin_from_block) END AS from_block
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
WHERE coalesce(token.standard NOT IN ('erc721', 'erc1155'), true);--> statement-breakpoint
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
FROM (
  -- All that is read from the coordinator alone, which a cluster does first, as a whole.
  SELECT of_subject.*, coin.from_block AS coin_from_block, coin.to_block AS coin_to_block
  FROM analytics.kept_subjects AS of_subject
  CROSS JOIN LATERAL (
    -- As of transfers, in kept_subjects: of what is deposited and withdrawn of the chain's wrapped coin.
    SELECT max(first_block) FILTER (WHERE coalesce(reached < first_block - 1, true)) AS from_block, max(last_block) AS to_block
    FROM (
      SELECT first_block, last_block,
        max(last_block) OVER (ORDER BY first_block ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
      FROM (
        SELECT of_chain.first_block, of_chain.last_block FROM public.sync_ranges AS of_chain
        WHERE of_chain.chain_id = of_subject.chain_id AND of_chain.dataset = 'wrapped-coin-moves'
        UNION ALL
        SELECT own.first_block, own.last_block FROM public.subject_ranges AS own
        WHERE own.chain_id = of_subject.chain_id AND own.subject = of_subject.address_bytes
          AND own.dataset = 'wrapped-coin-moves' AND own.kind = 'contract'
        UNION ALL
        SELECT NULL::bigint, NULL::bigint WHERE false
      ) AS ranges
    ) AS joined
  ) AS coin
  WHERE of_subject.state = 'erc20-token-holders'
) AS kept
JOIN public.erc20_holders AS held ON held.token = kept.address_bytes AND held.chain_id = kept.chain_id
LEFT JOIN public.erc20_holder_counts AS counts ON counts.token = held.token AND counts.chain_id = held.chain_id
LEFT JOIN public.tokens AS token ON token.address = held.token AND token.chain_id = held.chain_id
LEFT JOIN public.erc20_token_classes AS known ON known.token = held.token AND known.chain_id = held.chain_id
-- The chain's wrapped coin: what is deposited and withdrawn of it is no transfer, and indexed by itself.
LEFT JOIN public.payment_tokens AS native
  ON native.token_address = '\x0000000000000000000000000000000000000000'::bytea AND native.chain_id = held.chain_id
LEFT JOIN public.payment_tokens AS wrapped
  ON wrapped.token_address = held.token AND wrapped.chain_id = held.chain_id AND wrapped.is_ether = native.is_ether
CROSS JOIN LATERAL (
  -- From which block on all that moved is known: of the wrapped coin both are to be, up to the same block.
  SELECT CASE WHEN wrapped.token_address IS NULL THEN kept.from_block
    WHEN kept.coin_to_block = kept.to_block THEN greatest(kept.from_block, kept.coin_from_block) END AS from_block
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
) AS told;--> statement-breakpoint
CREATE OR REPLACE VIEW analytics.nft_owners AS
SELECT
  owned.chain_id,
  analytics.hex(owned.token_address) AS token_address,
  (SELECT token.name FROM public.tokens AS token WHERE token.address = owned.token_address AND token.chain_id = owned.chain_id) AS collection_name,
  owned.token_id,
  analytics.hex(owned.owner) AS owner,
  owned.amount,
  coalesce(
    (SELECT token.possible_spam FROM public.tokens AS token WHERE token.address = owned.token_address AND token.chain_id = owned.chain_id), false
  ) AS possible_spam,
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
-- Below zero while history is incomplete.
WHERE owned.amount > 0;--> statement-breakpoint
CREATE OR REPLACE VIEW analytics.nft_trades AS
SELECT
  trade.chain_id,
  -- Of its own type: converted, no index would know it.
  trade.block_number,
  trade.block_timestamp AS block_time,
  analytics.hex(trade.transaction_hash) AS transaction_hash,
  trade.transaction_index,
  trade.log_index,
  trade.item,
  trade.marketplace,
  trade.protocol,
  analytics.hex(trade.marketplace_address) AS marketplace_address,
  analytics.hex(trade.token_address) AS token_address,
  token.name AS collection_name,
  trade.all_token_ids AS token_ids,
  coalesce(trade.amounts, '{1}') AS amounts,
  analytics.hex(trade.seller) AS seller,
  analytics.hex(trade.buyer) AS buyer,
  CASE trade.side WHEN 0 THEN 'listing' WHEN 1 THEN 'offer' END AS side,
  analytics.hex(trade.payment_token) AS payment_token,
  coalesce(payment.symbol, paid_token.symbol) AS payment_symbol,
  trade.order_price AS price_base_units,
  analytics.amount(trade.order_price, coalesce(payment.decimals, paid_token.decimals)) AS price,
  -- The last answer of the chain's ETH/USD feed at or before the trade.
  round(CASE WHEN payment.is_ether THEN analytics.amount(trade.order_price, payment.decimals) * (
    SELECT analytics.amount(latest.answer, latest.decimals)
    FROM (
      SELECT found.*, phase.decimals
      FROM (SELECT aggregator, chain_id, decimals FROM public.price_feed_phases) AS phase
      -- Not an inner join: a cluster would take that for one that it can't plan.
      LEFT JOIN LATERAL (
        SELECT answer.block_number, answer.transaction_index, answer.log_index, answer.answer
        FROM (
          SELECT aggregator, chain_id, block_number, transaction_index, log_index, answer FROM public.feed_answers
          -- A cluster sends these to all of its servers: of all feeds there would be many.
          WHERE aggregator = ANY (ARRAY(SELECT aggregator FROM public.price_feed_phases))
        ) AS answer
        WHERE answer.aggregator = phase.aggregator AND answer.chain_id = trade.chain_id
          AND (answer.block_number, answer.transaction_index, answer.log_index) <= (trade.block_number, trade.transaction_index, trade.log_index)
        ORDER BY answer.block_number DESC, answer.transaction_index DESC, answer.log_index DESC LIMIT 1
      ) AS found ON true
      WHERE phase.chain_id = trade.chain_id
      ORDER BY found.block_number DESC NULLS LAST, found.transaction_index DESC, found.log_index DESC LIMIT 1
    ) AS latest WHERE latest.answer > 0
  ) END, 2) AS price_usd,
  -- Above 1: the price is that of the whole order, and each of its collections has a row.
  trade.collections,
  trade.collections > 1 OR cardinality(trade.all_token_ids) > 1 AS is_bundle,
  trade.buyer = trade.seller AS is_wash,
  coalesce(trade.order_price = 0, false) AS is_zero_price,
  coalesce(token.possible_spam, false) AS possible_spam,
  trade.token_address AS token_bytes,
  trade.seller AS seller_bytes,
  trade.buyer AS buyer_bytes,
  trade.payment_token AS payment_bytes,
  trade.collection_key,
  public.address_key(trade.seller) AS seller_key,
  public.address_key(trade.buyer) AS buyer_key
FROM (
  SELECT
    sold.*,
    coalesce(sold.token_ids, ARRAY[sold.token_id]) AS all_token_ids,
    -- An accepted Punk bid says no price: it is the bid's that stood then.
    coalesce(sold.price, (
      SELECT CASE WHEN bid.entered AND bid.bidder = sold.buyer THEN bid.value END
      FROM (
        SELECT token_address, chain_id, token_id, block_number, transaction_index, log_index, bidder, value, entered FROM public.punk_bids
        -- No rows: with them a cluster, on which bids don't lie beside trades, reads all bids first.
        UNION ALL
        SELECT NULL::bytea, NULL::bigint, NULL::numeric(78, 0), NULL::bigint, NULL::integer, NULL::integer, NULL::bytea, NULL::numeric(78, 0), NULL::boolean
        WHERE false
      ) AS bid
      WHERE bid.token_address = sold.token_address AND bid.chain_id = sold.chain_id AND bid.token_id = sold.token_id
        AND (bid.block_number, bid.transaction_index, bid.log_index) < (sold.block_number, sold.transaction_index, sold.log_index)
      ORDER BY bid.block_number DESC, bid.transaction_index DESC, bid.log_index DESC LIMIT 1
    )) AS order_price
  FROM public.nft_trades_all AS sold
  WHERE sold.leads
) AS trade
LEFT JOIN public.tokens AS token ON token.address = trade.token_address AND token.chain_id = trade.chain_id
LEFT JOIN public.tokens AS paid_token ON paid_token.address = trade.payment_token AND paid_token.chain_id = trade.chain_id
LEFT JOIN public.payment_tokens AS payment
  ON payment.token_address = coalesce(trade.payment_token, '\x0000000000000000000000000000000000000000'::bytea) AND payment.chain_id = trade.chain_id;
