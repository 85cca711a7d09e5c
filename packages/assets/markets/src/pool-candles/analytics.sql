-- Stored candles of proven pools by hour and day, of the base token in US dollars. Find them by pool_key and pool_bytes.
CREATE VIEW analytics.pool_candles AS
SELECT
  candle.chain_id,
  analytics.hex(candle.pool) AS pool,
  to_timestamp(candle.start::bigint * 3600) AS start_time,
  -- Width: 1 or 24.
  candle.hours,
  -- US dollars; null: unknown.
  analytics.candle_price(candle.prices, 0) AS open,
  analytics.candle_price(candle.prices, 1) AS high,
  analytics.candle_price(candle.prices, 2) AS low,
  analytics.candle_price(candle.prices, 3) AS close,
  trim_scale((candle.buy_volume + candle.sell_volume) * 1e-24) AS volume_usd,
  candle.swaps,
  -- Whether the base token is token 1.
  candle.is_quoted_in0,
  candle.buys,
  candle.sells,
  candle.start AS start_hour,
  candle.pool AS pool_bytes,
  candle.pool_key
FROM public.pool_candles AS candle
-- Spans are stored whole. A change of swaps or prices makes them or their candles invalid.
JOIN public.candle_spans AS span ON span.chain_id = candle.chain_id AND span.hours = candle.hours AND span.start = candle.start
LEFT JOIN public.stale_candles AS stale ON stale.pool_key = candle.pool_key AND stale.chain_id = candle.chain_id
  AND stale.hours = candle.hours AND stale.start = candle.start AND stale.pool = candle.pool
WHERE span.is_stored AND span.price_changes = 0 AND stale.pool IS NULL;
