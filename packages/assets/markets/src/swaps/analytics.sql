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
  -- Base units, positive into the pool.
  swap.amount0,
  swap.amount1,
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
LEFT JOIN public.pools AS pool ON pool.pool_key = swap.pool_key AND pool.chain_id = swap.chain_id AND pool.pool = swap.pool AND pool.status = 'proven';
