-- Prices of tokens in US dollars by hour and pool: the close of each stored candle of a proven pool. Find them by address_key(token_bytes).
CREATE VIEW analytics.token_prices AS
SELECT
  priced.chain_id,
  analytics.hex(priced.token) AS token_address,
  token.symbol AS token_symbol,
  -- The price at a block is that of the hour with this block, or of the last one before.
  span.first_block,
  span.last_block,
  to_timestamp(candle.start::bigint * 3600) AS start_time,
  -- US dollars per whole token; null: unknown.
  analytics.candle_price(candle.prices, 3) AS usd,
  -- Volume of the pool in this hour. More volume: a better price.
  trim_scale((candle.buy_volume + candle.sell_volume) * 1e-24) AS volume_usd,
  analytics.hex(priced.pool) AS pool,
  priced.exchange,
  candle.start AS start_hour,
  priced.token AS token_bytes,
  priced.pool AS pool_bytes,
  priced.pool_key
FROM (
  SELECT pool_key, chain_id, pool, exchange, token0 AS token, false AS is_quoted_in0 FROM public.pools
  WHERE status = 'proven' AND is_counted AND left_out IS NULL
  UNION ALL
  SELECT pool_key, chain_id, pool, exchange, token1, true FROM public.pools
  WHERE status = 'proven' AND is_counted AND left_out IS NULL
) AS priced
JOIN public.pool_candles AS candle ON candle.pool_key = priced.pool_key AND candle.chain_id = priced.chain_id AND candle.hours = 1
  AND candle.pool = priced.pool AND candle.is_quoted_in0 = priced.is_quoted_in0
JOIN public.candle_spans AS span ON span.chain_id = candle.chain_id AND span.hours = candle.hours AND span.start = candle.start
LEFT JOIN public.stale_candles AS stale ON stale.pool_key = candle.pool_key AND stale.chain_id = candle.chain_id
  AND stale.hours = candle.hours AND stale.start = candle.start AND stale.pool = candle.pool
LEFT JOIN public.tokens AS token ON token.address = priced.token AND token.chain_id = priced.chain_id
WHERE span.is_stored AND span.price_changes = 0 AND stale.pool IS NULL;
