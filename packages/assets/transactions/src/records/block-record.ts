import { type BlockHeader, ZERO_ADDRESS } from '@chainstead/core';
import { view, wire } from '@chainstead/http';
import { z } from 'zod';
import { address, digits, hash, hex } from './transaction-record.ts';

const { integer } = wire;
const account = wire.wire(address, (value: unknown) => readHex(value) ?? ZERO_ADDRESS);
const bytes = wire.wire(hex.nullable(), readHex);
const amount = wire.wire(digits, (value: unknown) => readQuantity(value) ?? '0');
/** Null: the chain or its nodes have no such field. */
const amountOrNull = wire.wire(digits.nullable(), readQuantity);

const withdrawal = view(null, (value: unknown) => Object(value) as Readonly<Record<string, unknown>>, {
  index: amount(),
  validatorIndex: amount(),
  address: account(),
  amount: amount(),
});

/** A header as nodes return it: `schema` checks a stored record, `show` makes it. */
export const blockRecord = view(
  null,
  ({ number, hash, parentHash, timestamp, raw }: BlockHeader) => ({
    ...raw,
    number,
    hash,
    parentHash,
    timestamp,
  }),
  {
    number: integer(),
    hash: wire.wire(hash)(),
    parentHash: wire.wire(hash)(),
    /** Unix seconds. */
    timestamp: integer(),
    nonce: bytes(),
    sha3Uncles: bytes(),
    logsBloom: bytes(),
    transactionsRoot: bytes(),
    stateRoot: bytes(),
    receiptsRoot: bytes(),
    miner: account(),
    difficulty: amount(),
    totalDifficulty: amountOrNull(),
    /** Bytes. */
    size: amount(),
    extraData: bytes(),
    gasLimit: amount(),
    gasUsed: amount(),
    /** Wei. */
    baseFeePerGas: amountOrNull(),
    mixHash: bytes(),
    withdrawalsRoot: bytes(),
    withdrawals: wire.wire(z.array(withdrawal.schema).nullable(), (list: unknown) =>
      Array.isArray(list) ? list.map((item) => withdrawal.show(item)) : null,
    )(),
    blobGasUsed: amountOrNull(),
    excessBlobGas: amountOrNull(),
    parentBeaconBlockRoot: bytes(),
    requestsHash: bytes(),
  },
);

export type BlockRecord = z.infer<typeof blockRecord.schema>;

function readHex(value: unknown): string | null {
  return typeof value === 'string' ? value.toLowerCase() : null;
}

function readQuantity(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value).toString() : null;
}
