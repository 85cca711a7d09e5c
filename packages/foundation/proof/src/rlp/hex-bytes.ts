import { defineError, type Hex } from '@chainstead/core';

/** A field that should be whole bytes in hexadecimal is not. Code `INVALID_HEX_BYTES`. */
export class InvalidHexBytesError extends defineError(
  'INVALID_HEX_BYTES',
  (given: unknown, expectedBytes?: number) => {
    const size = expectedBytes === undefined ? 'whole bytes' : `${expectedBytes} bytes`;
    return {
      message: `${JSON.stringify(given)?.slice(0, 100)} is not ${size} in hexadecimal`,
      facts: { given, expected_bytes: expectedBytes ?? null },
    };
  },
) {}

/** By the text's length. @throws InvalidHexBytesError for an odd length or no prefix */
export function hexByteLength(text: string): number {
  if ((text.length & 1) !== 0 || text.charCodeAt(0) !== 48 || text.charCodeAt(1) !== 120)
    throw new InvalidHexBytesError(text);
  return (text.length >> 1) - 1;
}

/** Returns the offset after them. @throws InvalidHexBytesError */
export function writeHexBytes(target: Buffer, offset: number, text: Hex | string, bytes: number): number {
  if (hexByteLength(text) !== bytes || target.write(text.slice(2), offset, bytes, 'hex') !== bytes)
    throw new InvalidHexBytesError(text, bytes);
  return offset + bytes;
}

/** @throws InvalidHexBytesError */
export function hexToBytes(text: Hex | string): Buffer {
  const bytes = Buffer.allocUnsafe(hexByteLength(text));
  writeHexBytes(bytes, 0, text, bytes.length);
  return bytes;
}
