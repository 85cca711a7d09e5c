-- State of each pool at the end of each block in which it changed, proven or not. Find them by pool_key and pool_bytes.
CREATE VIEW analytics.pool_states AS
SELECT
  state.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  state.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(state.pool) AS pool,
  -- Base units.
  state.reserve0,
  state.reserve1,
  -- Square root of token 1 per token 0 in base units, times 2^96.
  state.sqrt_price_x96,
  state.liquidity,
  -- Tick, or active bin of Liquidity Book.
  state.tick,
  state.transaction_index,
  state.log_index,
  state.pool AS pool_bytes,
  state.pool_key
FROM public.pool_states AS state
LEFT JOIN public.blocks AS block ON block.chain_id = state.chain_id AND block.block_number = state.block_number;
