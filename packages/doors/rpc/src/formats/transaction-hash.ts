import { keccak256Hex } from '@chainstead/core';

const RAW_TRANSACTION = /^0x(?:[0-9a-f]{2})+$/i;
/** EIP-7702. A legacy transaction's RLP begins with 0xc0 or more. */
const HIGHEST_TYPE = 4;
const BLOB_TYPE = 3;
const LIST_FROM = 0xc0;
const LONG_LIST_ABOVE = 0xf7;

/** Legacy, EIPs 2930, 1559, 4844 (without blobs), 7702; null for others. */
export function transactionHash(raw: unknown): string | null {
  if (typeof raw !== 'string' || !RAW_TRANSACTION.test(raw)) return null;
  const bytes = Buffer.from(raw.slice(2), 'hex');
  const type = bytes[0] ?? LIST_FROM;
  if (type > HIGHEST_TYPE && type < LIST_FROM) return null;
  // EIP-4844's network form: a list whose first item is the transaction.
  const list = type === BLOB_TYPE ? listStart(bytes, 1) : null;
  const body = list === null ? null : listStart(bytes, list.payload);
  if (list === null || body === null) return keccak256Hex(bytes);
  return keccak256Hex(
    Buffer.concat([bytes.subarray(0, 1), bytes.subarray(list.payload, body.payload + body.length)]),
  );
}

function listStart(bytes: Buffer, at: number): { readonly payload: number; readonly length: number } | null {
  const first = bytes[at];
  if (first === undefined || first < LIST_FROM) return null;
  if (first <= LONG_LIST_ABOVE) return { payload: at + 1, length: first - LIST_FROM };
  const size = first - LONG_LIST_ABOVE;
  if (size > 6 || at + 1 + size > bytes.length) return null;
  return { payload: at + 1 + size, length: bytes.readUIntBE(at + 1, size) };
}
