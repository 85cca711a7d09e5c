-- Deposits and withdrawals of ERC-4626 vaults, one row for each owner and each other receiver. Find them by account_key and account_bytes.
CREATE VIEW analytics.erc4626_vaults AS
SELECT
  moved.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  moved.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(moved.transaction_hash) AS transaction_hash,
  moved.transaction_index,
  moved.log_index,
  CASE WHEN moved.is_deposit THEN 'deposit' ELSE 'withdraw' END AS kind,
  analytics.hex(moved.account) AS account,
  analytics.hex(moved.vault) AS vault_address,
  analytics.hex(moved.sender) AS sender,
  analytics.hex(moved.owner) AS owner,
  analytics.hex(moved.receiver) AS receiver,
  moved.assets,
  moved.shares,
  moved.is_receiver,
  moved.account AS account_bytes,
  -- Index key of accounts. Use it together with the bytes.
  moved.account_key
FROM public.erc4626_vaults AS moved
LEFT JOIN public.blocks AS block ON block.chain_id = moved.chain_id AND block.block_number = moved.block_number;
