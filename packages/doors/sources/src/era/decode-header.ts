import { type BlockHeader, type Hash, keccak256Hex } from '@chainstead/core';
import { decodeHeader } from '@chainstead/proof';
import { parseHeader } from '@chainstead/rpc';
import { damage } from './era-damage.ts';

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
