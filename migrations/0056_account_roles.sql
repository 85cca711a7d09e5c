-- Rows without a role say what logs say of an account beside: they are no part in a transaction.
CREATE OR REPLACE VIEW analytics.account_transactions AS
SELECT
  part.chain_id,
  part.block_number,
  block.block_timestamp AS block_time,
  part.transaction_index,
  analytics.hex(part.account) AS account,
  part.roles & 1 <> 0 AS is_sender,
  part.roles & 2 <> 0 AS is_receiver,
  part.roles & 4 <> 0 AS is_created,
  part.account AS account_bytes,
  -- By these accounts are found, beside their bytes.
  part.account_key,
  part.transaction_key
FROM public.account_transactions AS part
LEFT JOIN public.blocks AS block ON block.chain_id = part.chain_id AND block.block_number = part.block_number
WHERE part.roles > 0;
