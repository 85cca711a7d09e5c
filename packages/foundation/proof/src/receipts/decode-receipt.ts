import { type Hash, type Hex, parseHash } from '@chainstead/core';
import { hexOf, quantityOf, type RlpItem, readRlpList } from '../rlp/read-rlp.ts';
import { envelopeType } from '../transactions/decode-transaction.ts';
import { BLOOM_BYTES } from './bloom.ts';
import { type ReadLog, readLogList, receiptMembers } from './read-receipt.ts';

export interface DecodedReceipt {
  readonly type: number;
  /** Root: before Byzantium. */
  readonly outcome: { readonly status: Hex } | { readonly root: Hash };
  readonly cumulativeGasUsed: bigint;
  /** Null in slim form. */
  readonly logsBloom: Hex | null;
  readonly logs: readonly ReadLog[];
}

const MEMBERS = 4;
const ROOT_BYTES = 32;
const GAS_BYTES_MAX = 8;

/** EIP-2718: the reverse of `encodeReceipt` for Ethereum's types. */
export function decodeReceipt(encoded: Buffer): DecodedReceipt | null {
  const members = receiptMembers(encoded);
  const [outcome, gas, bloom, logs] = members ?? [];
  const logsBloom = hexOf(bloom, BLOOM_BYTES);
  return members?.length !== MEMBERS || logsBloom === null
    ? null
    : decoded(envelopeType(encoded) ?? 0, outcome, gas, logsBloom, logs);
}

/** Form of the protocol eth/69 and of ere files: `[type, status or root, cumulative gas, logs]`. */
export function decodeSlimReceipt(encoded: Buffer): DecodedReceipt | null {
  const members = readRlpList(encoded);
  const [typeItem, outcome, gas, logs] = members ?? [];
  const type = quantityOf(typeItem);
  if (members?.length !== MEMBERS || type === null || type.length > TYPE_DIGITS_MAX) return null;
  return decoded(Number(type), outcome, gas, null, logs);
}

const TYPE_DIGITS_MAX = '0xff'.length;

function decoded(
  type: number,
  outcomeItem: RlpItem | undefined,
  gas: RlpItem | undefined,
  logsBloom: Hex | null,
  logItems: RlpItem | undefined,
): DecodedReceipt | null {
  const root = hexOf(outcomeItem, ROOT_BYTES);
  const status = quantityOf(outcomeItem);
  const outcome: DecodedReceipt['outcome'] | null =
    root !== null ? { root: parseHash(root) } : status === '0x0' || status === '0x1' ? { status } : null;
  const cumulativeGasUsed = gas !== undefined && gas.payload.length <= GAS_BYTES_MAX ? quantityOf(gas) : null;
  const logs = readLogList(logItems);
  if (outcome === null || cumulativeGasUsed === null || logs === null) return null;
  return { type, outcome, cumulativeGasUsed: BigInt(cumulativeGasUsed), logsBloom, logs };
}
