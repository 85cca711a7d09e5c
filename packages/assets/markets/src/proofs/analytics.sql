-- Pools of decentralized exchanges with their proofs. Only a proven pool has an exchange. Find them by pool_key and pool_bytes, proven ones by address_key(token0_bytes).
CREATE VIEW analytics.pools AS
SELECT
  chain_id,
  analytics.hex(pool) AS pool,
  status,
  -- creation: event of the factory, address: hash of factory and tokens, factory: its answer at proof_block.
  proof,
  proof_block,
  exchange,
  analytics.hex(factory) AS factory,
  analytics.hex(token0) AS token0,
  analytics.hex(token1) AS token1,
  -- Parts per million.
  fee,
  tick_spacing,
  is_stable,
  analytics.hex(hooks) AS hooks,
  -- False if a hook may change amounts: then its swaps are no trades.
  is_counted,
  token0 AS token0_bytes,
  token1 AS token1_bytes,
  pool AS pool_bytes,
  pool_key
FROM public.pools;
