import type { Chain } from '@chainstead/chains';
import type { Address, Hash, Hex } from '@chainstead/core';
import { hexBytes, hexText, type ReadDatabase, sql } from '@chainstead/db';
import type { BlockRecord } from '../records/block-record.ts';
import type { ProofMark } from '../records/transaction-record.ts';
import { transactionKey } from '../stored/transaction-key.ts';

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

type Withdrawals = NonNullable<BlockRecord['withdrawals']>;

/** Index, validator's index, address, amount: 8, 8, 20, 8 bytes. Null: a value doesn't fit. */
export function packWithdrawals(withdrawals: Withdrawals): Hex | null {
  let packed = '0x';
  for (const { index, validatorIndex, address, amount } of withdrawals) {
    const numbers = [uint64(index), uint64(validatorIndex), uint64(amount)];
    if (!/^0x[0-9a-f]{40}$/.test(address) || numbers.some((digits) => digits.length !== UINT64_DIGITS))
      return null;
    packed += `${numbers[0]}${numbers[1]}${address.slice(2)}${numbers[2]}`;
  }
  return packed as Hex;
}

export function unpackWithdrawals(packed: string): Withdrawals {
  const withdrawals: Withdrawals = [];
  for (let at = 2; at < packed.length; at += WITHDRAWAL_DIGITS) {
    const number = (from: number) => BigInt(`0x${packed.slice(at + from, at + from + UINT64_DIGITS)}`).toString();
    withdrawals.push({
      index: number(0),
      validatorIndex: number(UINT64_DIGITS),
      address: `0x${packed.slice(at + 2 * UINT64_DIGITS, at + WITHDRAWAL_DIGITS - UINT64_DIGITS)}` as Address,
      amount: number(WITHDRAWAL_DIGITS - UINT64_DIGITS),
    });
  }
  return withdrawals;
}

const UINT64_DIGITS = 16;
const WITHDRAWAL_DIGITS = 88;

function uint64(digits: string): string {
  return BigInt(digits).toString(16).padStart(UINT64_DIGITS, '0');
}
