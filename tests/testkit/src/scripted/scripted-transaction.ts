import { type Address, type Hash, type Hex, keccak256Hex } from '@chainstead/core';
import { createdContract, hexToBytes } from '@chainstead/proof';
import { keccak256, serializeTransaction, type TransactionSerializable } from 'viem';
import type { JsonObject } from '../nodes/chain-source.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { ScriptedEvent } from './scripted-event.ts';
import { quantity } from './scripted-header.ts';

/** A transaction apart from any block: after a reorganisation the same one may stand in another block. */
export interface ScriptedTransaction {
  readonly hash: Hash;
  /** EIP-2718 bytes, what the transactions root commits to. */
  readonly bytes: Uint8Array;
  /** JSON without the block's fields. */
  readonly json: JsonObject;
  readonly type: number;
  readonly from: Address;
  /** Null where it creates a contract. */
  readonly to: Address | null;
  readonly contractAddress: Address | null;
  readonly gasUsed: number;
  readonly succeeds: boolean;
  readonly events: readonly ScriptedEvent[];
}

export interface TransactionPlan {
  readonly chainId: number;
  readonly nonce: number;
  readonly from: Address;
  readonly to: Address | null;
  readonly events: readonly ScriptedEvent[];
  readonly succeeds: boolean;
  readonly random: SeededRandom;
  /** Signs the digest as `from`. Default: a random signature. */
  readonly sign?: ((from: Address, digest: Uint8Array) => Signature) | undefined;
}

export interface Signature {
  readonly r: Hex;
  readonly s: Hex;
  readonly yParity: number;
}

const GAS_BASE = 21_000;
const GAS_PER_EVENT = 30_000;
const GAS_PRICE = 2_000_000_000n;
const TYPES = ['legacy', 'eip2930', 'eip1559'] as const;

/** A transaction of one of the types 0, 1 and 2 with its true hash. */
export function buildTransaction(plan: TransactionPlan): ScriptedTransaction {
  const { chainId, nonce, from, to, events, random, succeeds, sign } = plan;
  const gas = GAS_BASE + GAS_PER_EVENT * Math.max(1, events.length);
  const type = random.integer(0, 9) < 7 ? 2 : random.integer(0, 1);
  const drawn = { yParity: random.integer(0, 1), r: random.hex(32), s: random.hex(32) };
  const input = random.hex(4);
  const body = { chainId, nonce, to, gas: BigInt(gas), value: 0n, data: input };
  const priced: TransactionSerializable =
    type === 2
      ? { ...body, type: TYPES[2], maxFeePerGas: GAS_PRICE, maxPriorityFeePerGas: GAS_PRICE }
      : { ...body, type: type === 1 ? TYPES[1] : TYPES[0], gasPrice: GAS_PRICE };
  const { r, s, yParity } = sign?.(from, keccak256(serializeTransaction(priced), 'bytes')) ?? drawn;
  const v = type === 0 ? chainId * 2 + 35 + yParity : yParity;
  const bytes = hexToBytes(serializeTransaction(priced, { r, s, yParity, v: BigInt(27 + yParity) }));
  const hash = keccak256Hex(bytes);
  const json = {
    type: quantity(type),
    chainId: quantity(chainId),
    nonce: quantity(nonce),
    gas: quantity(gas),
    gasPrice: quantity(GAS_PRICE),
    ...(type === 2 ? { maxFeePerGas: quantity(GAS_PRICE), maxPriorityFeePerGas: quantity(GAS_PRICE) } : {}),
    ...(type === 0 ? {} : { accessList: [], yParity: quantity(yParity) }),
    to,
    value: '0x0',
    input,
    r: trimmed(r),
    s: trimmed(s),
    v: quantity(v),
    hash,
    from,
  };
  const gasUsed = succeeds ? gas - 1_000 : GAS_BASE + 5_000;
  const contractAddress = to === null ? createdContract(from, BigInt(nonce)) : null;
  return {
    hash,
    bytes,
    json,
    type,
    from,
    to,
    contractAddress,
    gasUsed,
    succeeds,
    events: succeeds ? events : [],
  };
}

/** A quantity without leading zeros, as nodes write r and s. */
function trimmed(hex: Hex): Hex {
  return quantity(BigInt(hex));
}
