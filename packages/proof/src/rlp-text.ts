/**
 * RLP (Ethereum yellow paper, appendix B) as hexadecimal digits without a prefix. What nodes answer is hexadecimal already: put together as text, a
 * transaction becomes bytes once, where a buffer for each of its fields takes three times as long.
 */
import { LIST_BASE, SHORT_PAYLOAD_MAX, STRING_BASE } from './rlp.ts';

/** An even number of hexadecimal digits. */
type Digits = string;

const BYTE_DIGITS: readonly Digits[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const FIRST_OF_LONG = byteText(STRING_BASE);

/** Two digits. */
export function byteText(byte: number): Digits {
  return BYTE_DIGITS[byte] ?? '';
}

/** A byte string. */
export function stringText(digits: Digits): Digits {
  // A byte below 0x80 stands for itself; letters of either case come behind the figures.
  if (digits.length === 2 && digits < FIRST_OF_LONG) return digits;
  return headerText(STRING_BASE, digits.length >> 1) + digits;
}

/** A list of items that are encoded already, one after the other: put together with `+`, they stay pieces until all become bytes. */
export function listText(items: Digits): Digits {
  return headerText(LIST_BASE, items.length >> 1) + items;
}

/** The digits of a non-negative integer without leading zero bytes; none for 0. */
export function integerText(value: bigint): Digits {
  if (value === 0n) return '';
  const digits = value.toString(16);
  return digits.length % 2 === 0 ? digits : `0${digits}`;
}

/** What stands before a string (`STRING_BASE`) of several bytes, or a list (`LIST_BASE`). */
export function headerText(base: number, payloadLength: number): Digits {
  if (payloadLength <= SHORT_PAYLOAD_MAX) return byteText(base + payloadLength);
  const digits = payloadLength.toString(16);
  const length = digits.length % 2 === 0 ? digits : `0${digits}`;
  return byteText(base + SHORT_PAYLOAD_MAX + (length.length >> 1)) + length;
}
