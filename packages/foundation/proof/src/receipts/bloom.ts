import { type Hex, keccak256, type Log } from '@chainstead/core';
import { hexToBytes } from '../rlp/rlp-text.ts';

export const BLOOM_BYTES = 256;
const BLOOM_BITS = 2048;

const CACHE_SIZE = 32_768;

/** Few contracts emit most logs. A full generation replaces the older one. */
let recent = new Map<string, number>();
let older = new Map<string, number>();

/** Three 11-bit positions (yellow paper, 4.3.1, M3:2048). */
function packedPositions(value: Hex): number {
  const known = recent.get(value) ?? older.get(value);
  if (known !== undefined) return known;
  const digest = keccak256(hexToBytes(value));
  const packed =
    (digest.readUInt16BE(0) % BLOOM_BITS) * BLOOM_BITS * BLOOM_BITS +
    (digest.readUInt16BE(2) % BLOOM_BITS) * BLOOM_BITS +
    (digest.readUInt16BE(4) % BLOOM_BITS);
  if (recent.size >= CACHE_SIZE) {
    older = recent;
    recent = new Map();
  }
  recent.set(value, packed);
  return packed;
}

function setBit(bloom: Uint8Array, position: number): void {
  const at = BLOOM_BYTES - 1 - (position >> 3);
  bloom[at] = (bloom[at] ?? 0) | (1 << (position & 7));
}

function addValue(bloom: Uint8Array, value: Hex): void {
  const packed = packedPositions(value);
  const low = packed % (BLOOM_BITS * BLOOM_BITS);
  setBit(bloom, Math.floor(packed / (BLOOM_BITS * BLOOM_BITS)));
  setBit(bloom, low >> 11);
  setBit(bloom, low & (BLOOM_BITS - 1));
}

/** @throws InvalidHexBytesError */
export function logsBloom(logs: readonly Pick<Log, 'address' | 'topics'>[]): Buffer {
  const bloom = Buffer.alloc(BLOOM_BYTES);
  for (const log of logs) {
    addValue(bloom, log.address);
    for (const topic of log.topics) addValue(bloom, topic);
  }
  return bloom;
}

/** False: none of the logs has the address or topic. */
export function mayContain(bloom: Uint8Array, value: Hex): boolean {
  const packed = packedPositions(value);
  const low = packed % (BLOOM_BITS * BLOOM_BITS);
  return [Math.floor(packed / (BLOOM_BITS * BLOOM_BITS)), low >> 11, low & (BLOOM_BITS - 1)].every(
    (position) => ((bloom[BLOOM_BYTES - 1 - (position >> 3)] ?? 0) & (1 << (position & 7))) !== 0,
  );
}
