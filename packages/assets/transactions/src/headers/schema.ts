/** Headers as nodes return them. The time is in `blocks`. Null: the chain has no such field. */
import { address, chainId, hash, hexadecimal, int8Text, uint256 } from '@chainstead/db/column-types';
import { distributedBy, storedTable } from '@chainstead/db/table-storage';
import { integer } from 'drizzle-orm/pg-core';

export const blockHeaders = storedTable(
  'block_headers',
  {
    /** `blockKey`; distribution column on Citus. Hashes may share one. */
    blockKey: int8Text('block_key').notNull(),
    chainId: chainId(),
    blockNumber: integer('block_number').notNull(),
    /** Counts those of the block's root. */
    transactionCount: integer('transaction_count').notNull(),
    blockHash: hash('block_hash').notNull(),
    parentHash: hash('parent_hash').notNull(),
    miner: address('miner').notNull(),
    gasLimit: uint256('gas_limit').notNull(),
    gasUsed: uint256('gas_used').notNull(),
    /** Wei. */
    baseFeePerGas: uint256('base_fee_per_gas'),
    /** Bytes; 0: no node returns it. */
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
  {
    writes: 'append',
    placement: distributedBy('block', 'block_key'),
    isPartitioned: true,
    key: ['blockKey', 'chainId', 'blockNumber'],
  },
);

export type BlockHeaderRow = Readonly<typeof blockHeaders.$inferSelect>;
