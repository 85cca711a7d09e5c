import { type BlockHeader, type Hash, type Hex, keccak256Hex } from '@chainstead/core';
import {
  decodeHeader,
  decodeTransaction,
  eachOf,
  encodedLength,
  envelopeType,
  hexOf,
  quantityOf,
  type RlpItem,
  readRlpItem,
  readRlpList,
  type TransactionJson,
} from '@chainstead/proof';
import { parseHeader } from '@chainstead/rpc';
import { damage } from './era-damage.ts';

/** Proven by three roots of the header. */
export interface EraBody {
  /** EIP-2718. */
  readonly transactions: readonly Buffer[];
  readonly unclesHash: Hash;
  /** Members of `eth_getBlockByNumber` that no header has. */
  readonly members: {
    readonly size: Hex;
    readonly uncles: readonly Hash[];
    readonly withdrawals?: readonly TransactionJson[];
  };
}

/** `[transactions, uncles]`, from Shanghai with withdrawals. @throws EraDamage */
export function decodeBody(rlp: Buffer, headerBytes: number): EraBody {
  const whole = readRlpItem(rlp);
  const [transactions, uncles, withdrawals, ...others] = (whole === null ? null : readRlpList(rlp)) ?? [];
  const read = {
    transactions: eachOf(transactions, ({ isList, encoded, payload }) => (isList ? encoded : payload)),
    uncles: eachOf(uncles, ({ encoded }) => keccak256Hex(encoded)),
    withdrawals: withdrawals === undefined ? undefined : eachOf(withdrawals, withdrawal),
  };
  if (whole === null || read.transactions === null || read.uncles === null || read.withdrawals === null)
    return damage('a body has another form');
  if (others.length > 0) return damage('a body has more parts than are known');
  if (uncles === undefined) return damage('a body has no uncles');
  return {
    transactions: read.transactions,
    unclesHash: keccak256Hex(uncles.encoded),
    members: {
      size: `0x${encodedLength(headerBytes + whole.payload.length).toString(16)}`,
      uncles: read.uncles,
      ...(read.withdrawals === undefined ? {} : { withdrawals: read.withdrawals }),
    },
  };
}

const ETHEREUM_TYPE_MAX = 4;

/** Null: a type of another chain or fork. @throws EraDamage */
export function decodeEraTransaction(encoded: Buffer, index: number): TransactionJson | null {
  const decoded = decodeTransaction(encoded);
  const isKnown = (envelopeType(encoded) ?? 0) <= ETHEREUM_TYPE_MAX;
  return decoded === null && isKnown ? damage(`transaction ${index} has another form`) : decoded;
}

const ADDRESS_BYTES = 20;

function withdrawal(item: RlpItem): TransactionJson | null {
  const [index, validatorIndex, address, amount, ...others] =
    (item.isList ? readRlpList(item.encoded) : null) ?? [];
  const json = {
    index: quantityOf(index),
    validatorIndex: quantityOf(validatorIndex),
    address: hexOf(address, ADDRESS_BYTES),
    amount: quantityOf(amount),
  };
  return others.length > 0 || Object.values(json).includes(null) ? null : json;
}

export interface EraBlockHeader {
  readonly header: BlockHeader;
  /** Fields of a fork that this version does not know. */
  readonly unknownFields: number;
}

/** @throws EraDamage unless it is the header of the block */
export function decodeEraHeader(rlp: Buffer, number: number): EraBlockHeader {
  const decoded = decodeHeader(rlp);
  const hash: Hash = keccak256Hex(rlp);
  if (decoded === null || BigInt(decoded.raw.number ?? -1) !== BigInt(number))
    return damage(`block ${number} has another header`);
  return { header: parseHeader({ ...decoded.raw, hash }), unknownFields: decoded.unknownFields };
}
