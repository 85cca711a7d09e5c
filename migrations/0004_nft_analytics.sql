-- NFTs for people who come with a SQL client (docs/analytics.md), in the manner of 0002. Token ids are numbers of up to 78 digits.
-- What costs a look-up of its own (prices of Punk bids, US dollars) is a subquery in the select list: computed only where asked for.
CREATE VIEW analytics.nft_transfers AS
SELECT
  transfer.chain_id,
  transfer.block_number,
  transfer.block_timestamp AS block_time,
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
  transfer.to_address AS to_bytes
FROM public.nft_transfers AS transfer
LEFT JOIN public.tokens AS token ON token.address = transfer.token_address AND token.chain_id = transfer.chain_id;--> statement-breakpoint
CREATE VIEW analytics.ether_prices AS
SELECT
  answer.chain_id,
  answer.block_number,
  answer.transaction_index,
  answer.log_index,
  answer.block_timestamp AS block_time,
  analytics.amount(answer.answer, phase.decimals) AS usd,
  analytics.hex(phase.feed) AS feed,
  analytics.hex(answer.aggregator) AS aggregator,
  answer.round,
  answer.aggregator AS aggregator_bytes
FROM public.price_feed_phases AS phase
JOIN public.feed_answers AS answer ON answer.aggregator = phase.aggregator AND answer.chain_id = phase.chain_id
WHERE answer.answer > 0;--> statement-breakpoint
CREATE VIEW analytics.nft_trades AS
SELECT
  trade.chain_id,
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
  trade.token_ids,
  trade.amounts,
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
      SELECT found.*, phase.decimals FROM public.price_feed_phases AS phase
      CROSS JOIN LATERAL (
        SELECT answer.block_number, answer.transaction_index, answer.log_index, answer.answer
        FROM public.feed_answers AS answer
        WHERE answer.aggregator = phase.aggregator AND answer.chain_id = trade.chain_id
          AND (answer.block_number, answer.transaction_index, answer.log_index) <= (trade.block_number, trade.transaction_index, trade.log_index)
        ORDER BY answer.block_number DESC, answer.transaction_index DESC, answer.log_index DESC LIMIT 1
      ) AS found
      WHERE phase.chain_id = trade.chain_id
      ORDER BY found.block_number DESC, found.transaction_index DESC, found.log_index DESC LIMIT 1
    ) AS latest WHERE latest.answer > 0
  ) END, 2) AS price_usd,
  -- Above 1: the price is that of the whole order, and each of its collections has a row.
  trade.collections,
  trade.collections > 1 OR cardinality(trade.token_ids) > 1 AS is_bundle,
  trade.buyer = trade.seller AS is_wash,
  coalesce(trade.order_price = 0, false) AS is_zero_price,
  coalesce(token.possible_spam, false) AS possible_spam,
  trade.token_address AS token_bytes,
  trade.seller AS seller_bytes,
  trade.buyer AS buyer_bytes,
  trade.payment_token AS payment_bytes
FROM (
  SELECT
    sold.*,
    -- An accepted Punk bid says no price: it is the bid's that stood then.
    coalesce(sold.price, (
      SELECT CASE WHEN bid.entered AND bid.bidder = sold.buyer THEN bid.value END FROM public.punk_bids AS bid
      WHERE bid.token_address = sold.token_address AND bid.chain_id = sold.chain_id AND bid.token_id = sold.token_id
        AND (bid.block_number, bid.transaction_index, bid.log_index) < (sold.block_number, sold.transaction_index, sold.log_index)
      ORDER BY bid.block_number DESC, bid.transaction_index DESC, bid.log_index DESC LIMIT 1
    )) AS order_price
  FROM public.nft_trades AS sold
  WHERE sold.leads
) AS trade
LEFT JOIN public.tokens AS token ON token.address = trade.token_address AND token.chain_id = trade.chain_id
LEFT JOIN public.tokens AS paid_token ON paid_token.address = trade.payment_token AND paid_token.chain_id = trade.chain_id
LEFT JOIN public.payment_tokens AS payment
  ON payment.token_address = coalesce(trade.payment_token, '\x0000000000000000000000000000000000000000'::bytea) AND payment.chain_id = trade.chain_id;--> statement-breakpoint
CREATE VIEW analytics.nft_sale_days AS
SELECT
  sold.chain_id,
  analytics.hex(sold.token_address) AS token_address,
  token.name AS collection_name,
  -- Null: all tokens of the collection together.
  nullif(sold.token_id, -1) AS token_id,
  sold.day,
  analytics.hex(nullif(sold.payment_token, '\x0000000000000000000000000000000000000000'::bytea)) AS payment_token,
  coalesce(payment.symbol, paid_token.symbol) AS payment_symbol,
  sold.sales,
  analytics.amount(sold.total, coalesce(payment.decimals, paid_token.decimals)) AS volume,
  analytics.amount(div(sold.total, sold.sales::numeric), coalesce(payment.decimals, paid_token.decimals)) AS average,
  analytics.amount(sold.lowest, coalesce(payment.decimals, paid_token.decimals)) AS lowest,
  analytics.amount(sold.highest, coalesce(payment.decimals, paid_token.decimals)) AS highest,
  coalesce(payment.is_ether, false) AS is_ether,
  sold.total AS volume_base_units,
  sold.token_address AS token_bytes,
  sold.payment_token AS payment_bytes
FROM public.nft_sale_days AS sold
LEFT JOIN public.tokens AS token ON token.address = sold.token_address AND token.chain_id = sold.chain_id
LEFT JOIN public.tokens AS paid_token ON paid_token.address = sold.payment_token AND paid_token.chain_id = sold.chain_id
LEFT JOIN public.payment_tokens AS payment ON payment.token_address = sold.payment_token AND payment.chain_id = sold.chain_id;--> statement-breakpoint
CREATE VIEW analytics.nft_owners AS
SELECT
  balance.chain_id,
  analytics.hex(balance.token_address) AS token_address,
  token.name AS collection_name,
  balance.token_id,
  analytics.hex(balance.account) AS owner,
  balance.amount,
  coalesce(token.possible_spam, false) AS possible_spam,
  balance.token_address AS token_bytes,
  balance.account AS owner_bytes
FROM public.nft_balances AS balance
LEFT JOIN public.tokens AS token ON token.address = balance.token_address AND token.chain_id = balance.chain_id
-- Below zero while history is incomplete.
WHERE balance.amount > 0;--> statement-breakpoint
CREATE VIEW analytics.nft_holdings AS
SELECT
  holding.chain_id,
  analytics.hex(holding.account) AS wallet,
  analytics.hex(holding.token_address) AS token_address,
  token.name AS collection_name,
  holding.ids_held,
  coalesce(token.possible_spam, false) AS possible_spam,
  holding.account AS wallet_bytes,
  holding.token_address AS token_bytes
FROM public.nft_holdings AS holding
LEFT JOIN public.tokens AS token ON token.address = holding.token_address AND token.chain_id = holding.chain_id
WHERE holding.ids_held > 0;--> statement-breakpoint
CREATE VIEW analytics.nft_collections AS
SELECT
  token.chain_id,
  analytics.hex(token.address) AS token_address,
  coalesce(token.standard, lower(collection.contract_type)) AS standard,
  coalesce(token.name, collection.name) AS name,
  coalesce(token.symbol, collection.symbol) AS symbol,
  collection.collection_logo AS logo,
  collection.collection_category AS category,
  collection.project_url,
  collection.contract_uri,
  collection.base_uri,
  -- Null until the collection's metadata was asked for.
  collection.status AS metadata_status,
  collection.synced_at,
  token.verified,
  token.possible_spam,
  token.address AS token_bytes
FROM public.tokens AS token
LEFT JOIN public.nft_collections AS collection ON collection.token_address = token.address AND collection.chain_id = token.chain_id
WHERE token.standard IN ('erc721', 'erc1155') OR token.seen_as >= 2;--> statement-breakpoint
-- Where the role came after 0002, its default privileges did not.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'chainstead_reader') THEN
    GRANT SELECT ON ALL TABLES IN SCHEMA analytics TO chainstead_reader;
  END IF;
END
$$;
