/**
 * Headers of blocks as nodes show them, one row each, with withdrawals: what an answer says of a block beside its transactions and logs.
 *
 * Partitioned by range of (chain_id, block_number), which drizzle has no words for: the migration says it, and the sync engine makes the
 * partitions. The block's time is in `blocks`.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, hash, hexadecimal, int8Text, uint256 } from '@chainstead/db/column-types';
import { bigint, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core';

// Columns of fixed width come first: nothing is lost to alignment. Null: the chain's headers have no such field, or its nodes show none.
export const blockHeaders = pgTable(
  'block_headers',
  {
    /** Of `block_hash` (`blockKey`): what the key begins with, and the distribution column on Citus. Hashes may share one. */
    blockKey: int8Text('block_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    /** Of those that the block's root holds. */
    transactionCount: integer('transaction_count').notNull(),
    blockHash: hash('block_hash').notNull(),
    parentHash: hash('parent_hash').notNull(),
    miner: address('miner').notNull(),
    gasLimit: uint256('gas_limit').notNull(),
    gasUsed: uint256('gas_used').notNull(),
    /** Wei. */
    baseFeePerGas: uint256('base_fee_per_gas'),
    /** Bytes; 0 where no node tells it. */
    size: uint256('size').notNull(),
    difficulty: uint256('difficulty').notNull(),
    totalDifficulty: uint256('total_difficulty'),
    blobGasUsed: uint256('blob_gas_used'),
    excessBlobGas: uint256('excess_blob_gas'),
    stateRoot: hexadecimal('state_root'),
    transactionsRoot: hexadecimal('transactions_root'),
    receiptsRoot: hexadecimal('receipts_root'),
    sha3Uncles: hexadecimal('sha3_uncles'),
    mixHash: hexadecimal('mix_hash'),
    nonce: hexadecimal('nonce'),
    withdrawalsRoot: hexadecimal('withdrawals_root'),
    parentBeaconBlockRoot: hexadecimal('parent_beacon_block_root'),
    requestsHash: hexadecimal('requests_hash'),
    extraData: hexadecimal('extra_data'),
    logsBloom: hexadecimal('logs_bloom'),
    /** 44 bytes each (`packWithdrawals`). */
    withdrawals: hexadecimal('withdrawals'),
  },
  (table) => [
    primaryKey({
      name: 'block_headers_pkey',
      columns: [table.blockKey, table.chainId, table.blockNumber],
    }),
    blockRangeIndex('block_headers', table, 'int4'),
  ],
);

/** One header. Hexadecimal text is lower case. */
export type BlockHeaderRow = Readonly<typeof blockHeaders.$inferSelect>;
