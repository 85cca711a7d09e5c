-- Swaps and liquidity changes of all pools. exchange is null unless the pool is proven. Find them by pool_key and pool_bytes, or by address_key(wallet_bytes).
CREATE VIEW analytics.swaps AS
-- Without vault.
SELECT
  swap.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  swap.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(swap.transaction_hash) AS transaction_hash,
  swap.transaction_index,
  swap.log_index,
  CASE swap.kind WHEN 0 THEN 'swap' WHEN 1 THEN 'add' ELSE 'remove' END AS kind,
  analytics.hex(swap.pool) AS pool,
  pool.exchange,
  analytics.hex(coalesce(pool.token0, swap.token0)) AS token0,
  analytics.hex(coalesce(pool.token1, swap.token1)) AS token1,
  asset0.symbol AS token0_symbol,
  asset1.symbol AS token1_symbol,
  asset0.decimals AS token0_decimals,
  asset1.decimals AS token1_decimals,
  -- Base units, positive into the pool.
  swap.amount0,
  swap.amount1,
  analytics.amount(swap.amount0, asset0.decimals) AS token0_amount,
  analytics.amount(swap.amount1, asset1.decimals) AS token1_amount,
  -- Of the side that is ether, by the newest value of the chain's ETH/USD feed at or before the swap. Otherwise of the base token, at the close of
  -- the pool's stored candle of that hour.
  round(coalesce(analytics.amount(abs(CASE WHEN ether0.is_ether THEN swap.amount0 ELSE swap.amount1 END), coalesce(ether0.decimals, ether1.decimals))
    * CASE WHEN ether0.is_ether OR ether1.is_ether THEN (
    SELECT analytics.amount(latest.answer, latest.decimals)
    FROM (
      SELECT found.*, phase.decimals
      FROM (SELECT aggregator, chain_id, decimals FROM public.price_feed_phases WHERE is_ether) AS phase
      -- A left join, because Citus cannot plan the inner join.
      LEFT JOIN LATERAL (
        SELECT answer.block_number, answer.transaction_index, answer.log_index, answer.answer
        FROM (
          SELECT aggregator, chain_id, block_number, transaction_index, log_index, answer FROM public.feed_answers
          -- Citus copies these rows to all nodes, so only the rows of known feeds are selected.
          WHERE aggregator = ANY (ARRAY(SELECT aggregator FROM public.price_feed_phases WHERE is_ether))
        ) AS answer
        WHERE answer.aggregator = phase.aggregator AND answer.chain_id = swap.chain_id
          AND (answer.block_number, answer.transaction_index, answer.log_index) <= (swap.block_number, swap.transaction_index, swap.log_index)
        ORDER BY answer.block_number DESC, answer.transaction_index DESC, answer.log_index DESC LIMIT 1
      ) AS found ON true
      WHERE phase.chain_id = swap.chain_id
      ORDER BY found.block_number DESC NULLS LAST, found.transaction_index DESC, found.log_index DESC LIMIT 1
    ) AS latest WHERE latest.answer > 0
  ) END,
    CASE WHEN span.is_stored AND span.price_changes = 0 AND stale.pool IS NULL THEN analytics.candle_price(candle.prices, 3) *
      CASE WHEN candle.is_quoted_in0 THEN analytics.amount(abs(swap.amount1), asset1.decimals) ELSE analytics.amount(abs(swap.amount0), asset0.decimals) END
    END), 2) AS amount_usd,
  swap.tick_lower,
  swap.tick_upper,
  swap.liquidity_delta,
  -- Sender of the transaction.
  analytics.hex(swap.wallet) AS wallet,
  -- The single account that gave the sold token and received the bought one, if it is another one.
  analytics.hex(swap.beneficiary) AS beneficiary,
  swap.wallet AS wallet_bytes,
  swap.beneficiary AS beneficiary_bytes,
  swap.pool AS pool_bytes,
  -- Index key of pools. Use it together with the bytes.
  swap.pool_key
FROM public.swaps AS swap
LEFT JOIN public.blocks AS block ON block.chain_id = swap.chain_id AND block.block_number = swap.block_number
LEFT JOIN public.pools AS pool ON pool.pool_key = swap.pool_key AND pool.chain_id = swap.chain_id AND pool.pool = swap.pool AND pool.status = 'proven'
LEFT JOIN public.tokens AS asset0 ON asset0.address = coalesce(pool.token0, swap.token0) AND asset0.chain_id = swap.chain_id
LEFT JOIN public.tokens AS asset1 ON asset1.address = coalesce(pool.token1, swap.token1) AND asset1.chain_id = swap.chain_id
LEFT JOIN public.payment_tokens AS ether0 ON ether0.token_address = coalesce(pool.token0, swap.token0) AND ether0.chain_id = swap.chain_id AND ether0.is_ether
LEFT JOIN public.payment_tokens AS ether1 ON ether1.token_address = coalesce(pool.token1, swap.token1) AND ether1.chain_id = swap.chain_id AND ether1.is_ether
LEFT JOIN public.pool_candles AS candle ON swap.kind = 0 AND candle.pool_key = swap.pool_key AND candle.chain_id = swap.chain_id AND candle.hours = 1
  AND candle.start = floor(extract(epoch FROM block.block_timestamp) / 3600)::integer AND candle.pool = swap.pool
LEFT JOIN public.candle_spans AS span ON span.chain_id = candle.chain_id AND span.hours = candle.hours AND span.start = candle.start
LEFT JOIN public.stale_candles AS stale ON stale.pool_key = candle.pool_key AND stale.chain_id = candle.chain_id
  AND stale.hours = candle.hours AND stale.start = candle.start AND stale.pool = candle.pool;
