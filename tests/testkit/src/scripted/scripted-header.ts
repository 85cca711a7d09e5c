import { type Address, type Hash, type Hex, ZERO_HASH } from '@chainstead/core';
import { EMPTY_TRIE_ROOT, headerHash } from '@chainstead/proof';
import type { JsonObject } from '../nodes/chain-source.ts';
import { TestkitError } from '../testkit-error.ts';

/** Differences from one made-up header to the next. */
export interface HeaderPlan {
  readonly number: number;
  readonly parentHash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Any 32 bytes; two blocks that differ in nothing else get different hashes by it. */
  readonly mixHash: Hex;
  readonly logsBloom: Buffer;
  readonly transactionsRoot: Hex;
  readonly receiptsRoot: Hash;
  readonly gasUsed: number;
}

/** keccak256 of the RLP of an empty list. */
const EMPTY_UNCLES_HASH = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
const GAS_LIMIT = 36_000_000;
const BASE_FEE = 1_000_000_000;
const SEALER = `0x${'5ea1'.repeat(10)}` as Address;

/** A JSON-RPC quantity. */
export function quantity(value: number | bigint): Hex {
  return `0x${value.toString(16)}`;
}

/** A block's JSON without transactions and size, shaped like Ethereum's since Cancun, with the hash that its fields give. */
export function sealHeader(plan: HeaderPlan): { readonly hash: Hash; readonly header: JsonObject } {
  const fields = {
    number: quantity(plan.number),
    parentHash: plan.parentHash,
    nonce: '0x0000000000000000',
    mixHash: plan.mixHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    logsBloom: `0x${plan.logsBloom.toString('hex')}`,
    transactionsRoot: plan.transactionsRoot,
    stateRoot: plan.mixHash,
    receiptsRoot: plan.receiptsRoot,
    miner: SEALER,
    difficulty: '0x0',
    extraData: '0x',
    gasLimit: quantity(GAS_LIMIT),
    gasUsed: quantity(plan.gasUsed),
    timestamp: quantity(plan.timestamp),
    uncles: [],
    baseFeePerGas: quantity(BASE_FEE),
    withdrawalsRoot: EMPTY_TRIE_ROOT,
    withdrawals: [],
    blobGasUsed: '0x0',
    excessBlobGas: '0x0',
    parentBeaconBlockRoot: ZERO_HASH,
  };
  const hash = headerHash(fields);
  if (hash === null) throw new TestkitError('A made-up header lacks a field that every header has', { fields });
  return { hash, header: { ...fields, hash } };
}
