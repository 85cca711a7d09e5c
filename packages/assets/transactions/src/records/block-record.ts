import { type BlockHeader, ZERO_ADDRESS } from '@chainstead/core';
import { z } from 'zod';

const digits = z.string().regex(/^\d+$/);

/** Null: the chain or its nodes have no such field. */
export const blockRecordSchema = z.object({
  number: z.int(),
  hash: z.string(),
  parentHash: z.string(),
  /** Unix seconds. */
  timestamp: z.int(),
  nonce: z.string().nullable(),
  sha3Uncles: z.string().nullable(),
  logsBloom: z.string().nullable(),
  transactionsRoot: z.string().nullable(),
  stateRoot: z.string().nullable(),
  receiptsRoot: z.string().nullable(),
  miner: z.string(),
  difficulty: digits,
  totalDifficulty: digits.nullable(),
  /** Bytes. */
  size: digits,
  extraData: z.string().nullable(),
  gasLimit: digits,
  gasUsed: digits,
  /** Wei. */
  baseFeePerGas: digits.nullable(),
  mixHash: z.string().nullable(),
  withdrawalsRoot: z.string().nullable(),
  withdrawals: z
    .array(z.object({ index: digits, validatorIndex: digits, address: z.string(), amount: digits }))
    .nullable(),
  blobGasUsed: digits.nullable(),
  excessBlobGas: digits.nullable(),
  parentBeaconBlockRoot: z.string().nullable(),
  requestsHash: z.string().nullable(),
});

export type BlockRecord = z.infer<typeof blockRecordSchema>;

export function blockRecord({ number, hash, parentHash, timestamp, raw }: BlockHeader): BlockRecord {
  return {
    ...{ number, hash, parentHash, timestamp },
    nonce: hex(raw.nonce),
    sha3Uncles: hex(raw.sha3Uncles),
    logsBloom: hex(raw.logsBloom),
    transactionsRoot: hex(raw.transactionsRoot),
    stateRoot: hex(raw.stateRoot),
    receiptsRoot: hex(raw.receiptsRoot),
    miner: hex(raw.miner) ?? ZERO_ADDRESS,
    difficulty: quantity(raw.difficulty) ?? '0',
    totalDifficulty: quantity(raw.totalDifficulty),
    size: quantity(raw.size) ?? '0',
    extraData: hex(raw.extraData),
    gasLimit: quantity(raw.gasLimit) ?? '0',
    gasUsed: quantity(raw.gasUsed) ?? '0',
    baseFeePerGas: quantity(raw.baseFeePerGas),
    mixHash: hex(raw.mixHash),
    withdrawalsRoot: hex(raw.withdrawalsRoot),
    withdrawals: Array.isArray(raw.withdrawals) ? raw.withdrawals.map(withdrawal) : null,
    blobGasUsed: quantity(raw.blobGasUsed),
    excessBlobGas: quantity(raw.excessBlobGas),
    parentBeaconBlockRoot: hex(raw.parentBeaconBlockRoot),
    requestsHash: hex(raw.requestsHash),
  };
}

function withdrawal(value: unknown): NonNullable<BlockRecord['withdrawals']>[number] {
  const { index, validatorIndex, address, amount } = Object(value) as Readonly<Record<string, unknown>>;
  return {
    index: quantity(index) ?? '0',
    validatorIndex: quantity(validatorIndex) ?? '0',
    address: hex(address) ?? ZERO_ADDRESS,
    amount: quantity(amount) ?? '0',
  };
}

function hex(value: unknown): string | null {
  return typeof value === 'string' ? value.toLowerCase() : null;
}

function quantity(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value).toString() : null;
}
