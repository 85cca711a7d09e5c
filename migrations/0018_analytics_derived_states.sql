-- Which derived states count all rows of a chain: views of balances and sale days lack rows while theirs is built.
CREATE VIEW analytics.derived_states AS
SELECT
  chain_id,
  state,
  dataset,
  version,
  -- clearing, building, built
  status,
  -- While it is built: rows of blocks up to here are counted.
  CASE WHEN status = 'building' THEN position END AS built_to,
  updated_at
FROM public.derived_states;
