import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { hexBytes, hexTextOld, type ReadDatabase, sql } from '@chainstead/db';
import type { BlockRecord } from '../records/block-record.ts';
import { blockKey } from './block-key.ts';
import { unpackWithdrawals } from './packed-withdrawals.ts';

export interface StoredHeader {
  readonly record: BlockRecord;
  /** Counts those that the block's root contains. */
  readonly transactionCount: number;
}

/** A block as in `blocks`. */
export interface KnownBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
}

/** Returns the header of a block; null if none is stored. */
export async function readStoredHeader(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
  block: KnownBlock,
): Promise<StoredHeader | null> {
  const [row] = await database.select<HeaderColumns>(HEADER, [
    blockKey(block.hash),
    id,
    block.number,
    hexBytes(block.hash),
  ]);
  if (row === undefined) return null;
  const { transactionCount, withdrawals, ...header } = row;
  const { number, hash, timestamp } = block;
  return {
    transactionCount,
    record: {
      ...{ number, hash, timestamp, ...header },
      withdrawals: withdrawals === null ? null : unpackWithdrawals(withdrawals),
    },
  };
}

/** Returns the block numbers stored for a hash, of which at most one is still in the chain. */
export async function findBlockNumber(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
  hash: Hash,
): Promise<number | null> {
  const [row] = await database.select<{ readonly number: number }>(
    sql`SELECT block_number AS number FROM block_headers WHERE block_key = ${blockKey(hash)}::bigint AND chain_id = ${id} AND block_hash = ${hexBytes(hash)}
     ORDER BY block_number DESC LIMIT 1`,
  );
  return row?.number ?? null;
}

type HeaderColumns = Omit<BlockRecord, 'number' | 'hash' | 'timestamp' | 'withdrawals'> & {
  readonly transactionCount: number;
  readonly withdrawals: string | null;
};

const HEADER = `SELECT transaction_count AS "transactionCount", ${hexTextOld('parent_hash')} AS "parentHash", ${hexTextOld('miner')} AS miner,
  gas_limit::text AS "gasLimit", gas_used::text AS "gasUsed", base_fee_per_gas::text AS "baseFeePerGas", size::text AS size,
  difficulty::text AS difficulty, total_difficulty::text AS "totalDifficulty", blob_gas_used::text AS "blobGasUsed",
  excess_blob_gas::text AS "excessBlobGas", ${hexTextOld('state_root')} AS "stateRoot", ${hexTextOld('transactions_root')} AS "transactionsRoot",
  ${hexTextOld('receipts_root')} AS "receiptsRoot", ${hexTextOld('sha3_uncles')} AS "sha3Uncles", ${hexTextOld('mix_hash')} AS "mixHash",
  ${hexTextOld('nonce')} AS nonce, ${hexTextOld('withdrawals_root')} AS "withdrawalsRoot",
  ${hexTextOld('parent_beacon_block_root')} AS "parentBeaconBlockRoot", ${hexTextOld('requests_hash')} AS "requestsHash",
  ${hexTextOld('extra_data')} AS "extraData", ${hexTextOld('logs_bloom')} AS "logsBloom", ${hexTextOld('withdrawals')} AS withdrawals
FROM block_headers WHERE block_key = $1::bigint AND chain_id = $2 AND block_number = $3::int AND block_hash = $4`;
