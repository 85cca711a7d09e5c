/** RLP (yellow paper, appendix B) into buffers of precomputed size. */

export const SHORT_PAYLOAD_MAX = 55;

export const STRING_BASE = 0x80;
export const LIST_BASE = 0xc0;

function headerLength(payloadLength: number): number {
  if (payloadLength <= SHORT_PAYLOAD_MAX) return 1;
  if (payloadLength < 0x100) return 2;
  if (payloadLength < 0x1_0000) return 3;
  if (payloadLength < 0x100_0000) return 4;
  return 5;
}

export function encodedLength(payloadLength: number): number {
  return headerLength(payloadLength) + payloadLength;
}

/** Returns the payload's offset. @param base `STRING_BASE` or `LIST_BASE` */
export function writeHeader(target: Buffer, offset: number, base: number, payloadLength: number): number {
  if (payloadLength <= SHORT_PAYLOAD_MAX) {
    target[offset] = base + payloadLength;
    return offset + 1;
  }
  const lengthBytes = headerLength(payloadLength) - 1;
  target[offset] = base + SHORT_PAYLOAD_MAX + lengthBytes;
  target.writeUIntBE(payloadLength, offset + 1, lengthBytes);
  return offset + 1 + lengthBytes;
}

export function encodeString(bytes: Uint8Array): Buffer {
  const [first] = bytes;
  if (bytes.length === 1 && first !== undefined && first < STRING_BASE) return Buffer.from(bytes);
  const encoded = Buffer.allocUnsafe(encodedLength(bytes.length));
  encoded.set(bytes, writeHeader(encoded, 0, STRING_BASE, bytes.length));
  return encoded;
}

export function encodeList(items: readonly Uint8Array[]): Buffer {
  const payloadLength = items.reduce((sum, item) => sum + item.length, 0);
  const encoded = Buffer.allocUnsafe(encodedLength(payloadLength));
  let offset = writeHeader(encoded, 0, LIST_BASE, payloadLength);
  for (const item of items) {
    encoded.set(item, offset);
    offset += item.length;
  }
  return encoded;
}

/** Big-endian without leading zeros; none for 0. */
export function integerBytes(value: bigint | number): Buffer {
  if (value === 0 || value === 0n) return Buffer.alloc(0);
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}
