import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { hexBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import type { ProofMark } from '../reading/proof-mark.ts';
import type { BlockRecord } from '../records/block-record.ts';
import { transactionKey } from '../stored/transaction-key.ts';
import { unpackWithdrawals } from './packed-withdrawals.ts';

export interface CoveredBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly proof: ProofMark;
  readonly finalized: boolean;
}

export async function readStoredHeader(
  database: ReadDatabase,
  { id }: Pick<Chain, 'id'>,
  block: Pick<CoveredBlock, 'number' | 'hash' | 'timestamp'>,
): Promise<{ readonly record: BlockRecord; readonly transactionCount: number } | null> {
  const [row] = await database.select<HeaderColumns>(
    sql`SELECT ${COLUMNS} FROM block_headers
WHERE block_key = ${transactionKey(block.hash)}::bigint AND chain_id = ${id} AND block_number = ${block.number}::int AND block_hash = ${hexBytes(block.hash)}`,
  );
  if (row === undefined) return null;
  const { transactionCount, withdrawals: packed, ...header } = row;
  const { number, hash, timestamp } = block;
  const withdrawals = packed === null ? null : unpackWithdrawals(packed);
  return { transactionCount, record: { number, hash, timestamp, ...header, withdrawals } };
}

export async function findBlockNumber(database: ReadDatabase, { id }: Pick<Chain, 'id'>, hash: Hash) {
  const [row] = await database.select<{ readonly number: number }>(
    sql`SELECT block_number AS number FROM block_headers WHERE block_key = ${transactionKey(hash)}::bigint AND chain_id = ${id} AND block_hash = ${hexBytes(hash)}
     ORDER BY block_number DESC LIMIT 1`,
  );
  return row?.number ?? null;
}

type HeaderColumns = Omit<BlockRecord, 'number' | 'hash' | 'timestamp' | 'withdrawals'> & {
  readonly transactionCount: number;
  readonly withdrawals: string | null;
};

const COLUMNS = sql`transaction_count, ${hexText('parent_hash')} AS "parentHash", ${hexText('miner')} AS miner,
  gas_limit::text, gas_used::text, base_fee_per_gas::text, size::text AS size,
  difficulty::text AS difficulty, total_difficulty::text, blob_gas_used::text,
  excess_blob_gas::text, ${hexText('state_root')} AS "stateRoot", ${hexText('transactions_root')} AS "transactionsRoot",
  ${hexText('receipts_root')} AS "receiptsRoot", ${hexText('sha3_uncles')} AS "sha3Uncles", ${hexText('mix_hash')} AS "mixHash",
  ${hexText('nonce')} AS nonce, ${hexText('withdrawals_root')} AS "withdrawalsRoot",
  ${hexText('parent_beacon_block_root')} AS "parentBeaconBlockRoot", ${hexText('requests_hash')} AS "requestsHash",
  ${hexText('extra_data')} AS "extraData", ${hexText('logs_bloom')} AS "logsBloom", ${hexText('withdrawals')} AS withdrawals`;
