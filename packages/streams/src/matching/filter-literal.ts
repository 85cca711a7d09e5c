import { keccak256 } from 'viem';
import { comparableText, type FieldKind, type FieldValue, textHash } from './event-fields.ts';

/** 2^256 has 78 decimal digits. */
const NUMBER = /^-?(?:\d{1,100}|0x[0-9a-f]{1,64})$/i;
const BYTES = /^0x(?:[0-9a-f]{2})*$/i;
const TEXT_LENGTH_MAX = 10_000;

/** A filter's value as what a parameter of this kind is compared with; null where it can't be one. */
export function literalOf(kind: FieldKind, value: unknown): FieldValue | null {
  switch (kind.type) {
    case 'number':
      return numberOf(value);
    case 'bool':
      return boolOf(value);
    case 'text':
      return textOf(value, comparableText);
    case 'hex':
      return hexOf(value, kind.bytes);
    case 'hash':
      return hexOf(value, 32) ?? (kind.of === 'text' ? textOf(value, textHash) : hashOf(value));
  }
}

function numberOf(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : null;
  if (typeof value !== 'string' || !NUMBER.test(value)) return null;
  return value.startsWith('-') ? -BigInt(value.slice(1)) : BigInt(value);
}

function boolOf(value: unknown): boolean | null {
  const text = textOf(value, (given) => given.toLowerCase());
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : null;
}

function textOf(value: unknown, normalise: (text: string) => string): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null;
  const text = String(value);
  return text.length > TEXT_LENGTH_MAX ? null : normalise(text);
}

function hexOf(value: unknown, bytes: number | null): string | null {
  if (typeof value !== 'string' || !BYTES.test(value)) return null;
  return bytes === null || value.length === 2 + 2 * bytes ? value.toLowerCase() : null;
}

function hashOf(value: unknown): string | null {
  const hex = hexOf(value, null);
  return hex === null ? null : keccak256(hex as `0x${string}`);
}
