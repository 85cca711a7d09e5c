import { isLowerHex, isObject, toQuantity } from '@chainstead/core';
import { MalformedAnswerError } from '@chainstead/rpc';

export type Json = Readonly<Record<string, unknown>>;
/** Undefined: the source has no value. @throws MalformedAnswerError */
export type Form = (value: unknown, name: string) => unknown;

const HEX_QUANTITY = /^0x[0-9a-f]*$/i;
const DECIMAL = /^\d{1,78}$/;
const BYTES = /^0x(?:[0-9a-f]{2})*$/i;
const CANONICAL = /^0x(?:0|[1-9a-f][0-9a-f]*)$/;

/**
 * From hex, a decimal string or a number: services change the form by field and version. A JSON number beyond 2^53
 * parses to an unsafe integer and is refused.
 */
export const quantity: Form = (value, name) => {
  if (isMissing(value)) return undefined;
  if (typeof value === 'string') {
    if (CANONICAL.test(value)) return value;
    if (HEX_QUANTITY.test(value)) return value.length === 2 ? '0x0' : toQuantity(BigInt(value));
    if (DECIMAL.test(value)) return toQuantity(BigInt(value));
  } else if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return toQuantity(value);
  throw malformed(name, 'a quantity', value);
};

/** A safe integer, from any form of a quantity. @throws MalformedAnswerError */
export function integer(value: unknown, name: string): number {
  const number = Number(quantity(value, name) ?? Number.NaN);
  if (!Number.isSafeInteger(number)) throw malformed(name, 'an integer', value);
  return number;
}

export const bytes: Form = (value, name) => {
  if (isMissing(value)) return undefined;
  if (typeof value === 'string') {
    // A hot path: calldata and blooms are most of a stream.
    if (value.length % 2 === 0 && isLowerHex(value, value.length)) return value;
    if (BYTES.test(value)) return value.toLowerCase();
  }
  throw malformed(name, 'bytes', value);
};

/** Eight bytes that some sources write as a quantity. */
export const headerNonce: Form = (value, name) => {
  const digits = quantity(value, name);
  return typeof digits === 'string' ? `0x${digits.slice(2).padStart(16, '0')}` : undefined;
};

/** A creation has no recipient. */
export const recipient: Form = (value, name) => {
  const address = bytes(value, name);
  return address === undefined || address === '0x' ? null : address;
};

/** Such as `0.684`: digits only. */
export const decimalText: Form = (value, name) => {
  if (isMissing(value)) return undefined;
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^(?:0x[0-9a-f]+|\d+(?:\.\d+)?)$/i.test(text)) return text;
  throw malformed(name, 'a decimal', value);
};

export function listOf(form: Form): Form {
  return (value, name) => {
    if (isMissing(value)) return undefined;
    if (!Array.isArray(value)) throw malformed(name, 'a list', value);
    return value.map((item) => {
      const formed = form(item, name);
      if (formed === undefined) throw malformed(name, 'a list without null', value);
      return formed;
    });
  };
}

export type Forms = Readonly<Record<string, Form>>;

/** One form for many members. @param names separated by spaces */
export function formsOf(form: Form, names: string): Forms {
  return Object.fromEntries(names.split(' ').map((name) => [name, form]));
}

/** Names in camelCase; snake_case is accepted. Members without value are left out. */
export function objectOf(forms: Forms): Form {
  const fields = Object.entries(forms).map(([name, form]) => ({ name, form, snake: toSnakeCase(name) }));
  return (value, at) => {
    if (isMissing(value)) return undefined;
    if (!isObject(value)) throw malformed(at, 'an object', value);
    const formed: Record<string, unknown> = {};
    for (const { name, form, snake } of fields) {
      const member = form(value[name] ?? value[snake], name);
      if (member !== undefined) formed[name] = member;
    }
    return formed;
  };
}

export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function toCamelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function malformed(name: string, expected: string, value: unknown): MalformedAnswerError {
  const shown = typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value)?.slice(0, 80);
  return new MalformedAnswerError(`${name} is not ${expected}: ${shown}`);
}

function isMissing(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
