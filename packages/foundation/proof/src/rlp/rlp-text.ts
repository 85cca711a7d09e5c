/** RLP (yellow paper, appendix B) as digits without prefix: three times as fast as buffers. */

import { defineError, type Hex } from '@chainstead/core';
import { LIST_BASE, SHORT_PAYLOAD_MAX, STRING_BASE } from './rlp.ts';

type Digits = string;

const BYTE_DIGITS: readonly Digits[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);
const FIRST_OF_LONG = byteText(STRING_BASE);

export function byteText(byte: number): Digits {
  return BYTE_DIGITS[byte] ?? '';
}

export function stringText(digits: Digits): Digits {
  if (digits.length === 2 && digits < FIRST_OF_LONG) return digits;
  return headerText(STRING_BASE, digits.length >> 1) + digits;
}

/** A text joined with `+` stays a rope until it becomes bytes. */
export function listText(items: Digits): Digits {
  return headerText(LIST_BASE, items.length >> 1) + items;
}

export function integerText(value: bigint): Digits {
  if (value === 0n) return '';
  const digits = value.toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

export function headerText(base: number, payloadLength: number): Digits {
  if (payloadLength <= SHORT_PAYLOAD_MAX) return byteText(base + payloadLength);
  const length = integerText(BigInt(payloadLength));
  return byteText(base + SHORT_PAYLOAD_MAX + (length.length >> 1)) + length;
}

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
