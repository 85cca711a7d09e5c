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

/** A list of items that are encoded already. */
export function listText(items: readonly Digits[]): Digits {
  const payload = items.join('');
  return headerText(LIST_BASE, payload.length >> 1) + payload;
}

function headerText(base: number, payloadLength: number): Digits {
  if (payloadLength <= SHORT_PAYLOAD_MAX) return byteText(base + payloadLength);
  const digits = payloadLength.toString(16);
  const length = digits.length % 2 === 0 ? digits : `0${digits}`;
  return byteText(base + SHORT_PAYLOAD_MAX + (length.length >> 1)) + length;
}
