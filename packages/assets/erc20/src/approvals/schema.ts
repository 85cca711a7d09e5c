/** One row per event, and the newest approval per token and spender of requested wallets. */
import { address, bytea, chainId, hash, int8Text, logPlace, uint256 } from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, logOrder, storedTable } from '@chainstead/db/table-storage';
import { index, integer } from 'drizzle-orm/pg-core';

export const erc20Approvals = storedTable(
  'erc20_approvals',
  {
    /** `addressKey` of `owner`; distribution column on Citus. Owners may share a value. */
    ownerKey: int8Text('owner_key').notNull(),
    /** The position makes the key unique among owners that share an `owner_key`. */
    ...logPlace(),
    owner: address('owner').notNull(),
    token: address('token').notNull(),
    spender: address('spender').notNull(),
    /** Base units; 0 revokes the approval. */
    value: uint256('value').notNull(),
    transactionHash: hash('transaction_hash').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('account', 'owner_key'),
    isPartitioned: true,
    key: ['ownerKey', ...LOG_PLACE],
  },
);

/** The newest approval per token and spender of requested wallets. */
export const erc20WalletApprovals = storedTable(
  'erc20_wallet_approvals',
  {
    wallet: bytea('wallet').notNull(),
    chainId: chainId(),
    token: bytea('token').notNull(),
    spender: bytea('spender').notNull(),
    value: uint256('value').notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    transactionHash: bytea('transaction_hash').notNull(),
  },
  {
    writes: 'counter',
    placement: distributedBy('wallet', 'wallet'),
    key: ['wallet', 'chainId', 'token', 'spender'],
    indexes: (table) => [
      // In page order; revoked approvals lie in between.
      index('erc20_wallet_approvals_by_block').on(
        table.wallet,
        table.chainId,
        ...logOrder(table),
        table.token,
        table.spender,
      ),
    ],
  },
);
