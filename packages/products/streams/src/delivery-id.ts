import { createHash } from 'node:crypto';
import type { DeliveryKind, MatchKey } from './delivery/outbox.ts';

const NAMESPACE = Buffer.from('5d2e0f0c94f1432b8d6a7b1c3e9f5a80', 'hex');
const VERSION = 5;
const VERSION_BYTE = 6;
const VARIANT_BYTE = 8;

/** UUID version 5 (RFC 9562) of the contents: receivers detect duplicates. */
export function deliveryId(
  kind: DeliveryKind,
  { streamId, chainId, blockHash }: Omit<MatchKey, 'blockNumber'>,
): string {
  // Invariant: STREAM-STABLE-ID
  const name = `${streamId}/${chainId}/${blockHash}/${kind}`;
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(VERSION_BYTE) & 0x0f) | (VERSION << 4), VERSION_BYTE);
  bytes.writeUInt8((bytes.readUInt8(VARIANT_BYTE) & 0x3f) | 0x80, VARIANT_BYTE);
  const digits = bytes.toString('hex');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
