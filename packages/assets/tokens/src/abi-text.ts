/** Untrusted responses of contracts: any bytes become clean text or null, without errors. */
import { returnedNumber } from '@chainstead/events/abi';

export const NAME_LENGTH_MAX = 256;
export const SYMBOL_LENGTH_MAX = 64;

const WORD_BYTES = 32;
const BYTES_PER_CHARACTER_MAX = 4;

/** ABI `string`, or `bytes32` padded with zeros (MKR, SAI). Null: no text. */
export function decodeText(data: string, charactersMax: number): string | null {
  const bytesMax = charactersMax * BYTES_PER_CHARACTER_MAX;
  // Offset and length words come first.
  const bytes = Buffer.from(data.slice(2, 2 + 2 * (bytesMax + 4 * WORD_BYTES)), 'hex');
  // A `bytes32` begins with a character, unlike an offset.
  const fixed = bytes.length > WORD_BYTES && bytes[0] !== 0 ? bytes.subarray(0, WORD_BYTES) : null;
  const content = bytes.length === WORD_BYTES ? bytes : (stringContent(bytes) ?? fixed);
  return content === null ? null : cleanText(content.subarray(0, bytesMax), charactersMax);
}

/** Null: none, or empty. Cut off after `bytesMax`. */
export function decodeRawText(data: string, bytesMax: number): string | null {
  const bytes = Buffer.from(data.slice(2, 2 + 2 * (bytesMax + 4 * WORD_BYTES)), 'hex');
  const content = stringContent(bytes);
  return content === null || content.length === 0
    ? null
    : new TextDecoder().decode(content.subarray(0, bytesMax));
}

/** Null for anything above 255 or shorter than a word. */
export function decodeDecimals(data: string): number | null {
  const value = returnedNumber(data);
  return value !== null && value <= 255n ? Number(value) : null;
}

export function decodeFlag(data: string): boolean {
  return returnedNumber(data) === 1n;
}

/** UTF-8 without NUL, controls and direction marks. Null: nothing is left. */
export function cleanText(content: Uint8Array | string, charactersMax: number): string | null {
  const text = typeof content === 'string' ? content.toWellFormed() : new TextDecoder().decode(content);
  const clean = text.replace(UNWANTED, '').replace(/\s+/gu, ' ').trim();
  const short = clean.length <= charactersMax ? clean : [...clean].slice(0, charactersMax).join('').trimEnd();
  return short === '' ? null : short;
}

const UNWANTED =
  /\uFFFD|(?!\s)\p{Cc}|[\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]|\p{Co}|\p{Cn}/gu;

function stringContent(bytes: Buffer): Buffer | null {
  const offset = wordAsIndex(bytes, 0);
  if (offset === null) return null;
  const length = wordAsIndex(bytes, offset);
  if (length === null) return null;
  const from = offset + WORD_BYTES;
  return bytes.subarray(from, Math.min(from + length, bytes.length));
}

/** Capped if larger than any answer; null if the 32 bytes are not all there. */
function wordAsIndex(bytes: Buffer, at: number): number | null {
  if (at + WORD_BYTES > bytes.length) return null;
  const high = bytes.subarray(at, at + WORD_BYTES - 4).some((byte) => byte !== 0);
  return high ? Number.MAX_SAFE_INTEGER : bytes.readUInt32BE(at + WORD_BYTES - 4);
}
