import { keccak256Hex } from '@chainstead/core';

const RAW_TRANSACTION = /^0x(?:[0-9a-f]{2})+$/i;
/** EIP-7702. A legacy transaction is a list, whose RLP begins with 0xc0 or more. */
const HIGHEST_TYPE = 4;
const BLOB_TYPE = 3;
const LIST_FROM = 0xc0;
/** Lists with separate length bytes begin above this. */
const LONG_LIST_ABOVE = 0xf7;

/**
 * Returns the hash of a signed transaction: keccak-256 of its bytes, for legacy transactions and the types of EIPs
 * 2930, 1559, 4844 (without the attached blobs) and 7702. Null for other types, which chains hash in their own way
 * (zkSync's 0x71), and if `raw` is not a byte string.
 */
export function transactionHash(raw: unknown): string | null {
  if (typeof raw !== 'string' || !RAW_TRANSACTION.test(raw)) return null;
  const bytes = Buffer.from(raw.slice(2), 'hex');
  const type = bytes[0] ?? LIST_FROM;
  if (type > HIGHEST_TYPE && type < LIST_FROM) return null;
  const signed = type === BLOB_TYPE ? withoutBlobs(bytes) : bytes;
  return keccak256Hex(signed);
}

/** The network form of EIP-4844 is a list whose first item is the transaction itself. */
function withoutBlobs(bytes: Buffer): Buffer {
  const inner = listStart(bytes, 1);
  const body = inner === null ? null : listStart(bytes, inner.payload);
  if (inner === null || body === null) return bytes;
  return Buffer.concat([bytes.subarray(0, 1), bytes.subarray(inner.payload, body.payload + body.length)]);
}

function listStart(bytes: Buffer, at: number): { readonly payload: number; readonly length: number } | null {
  const first = bytes[at];
  if (first === undefined || first < LIST_FROM) return null;
  if (first <= LONG_LIST_ABOVE) return { payload: at + 1, length: first - LIST_FROM };
  const size = first - LONG_LIST_ABOVE;
  if (size > 6 || at + 1 + size > bytes.length) return null;
  return { payload: at + 1 + size, length: bytes.readUIntBE(at + 1, size) };
}
