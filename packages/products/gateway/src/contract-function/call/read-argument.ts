import { JSON_DEPTH_MAX, parseBoundedJson } from '@chainstead/core';
import type { AbiType } from '@chainstead/events/decoding';
import { InvalidParameterError, type ParameterProblem } from '@chainstead/http';
import { keyOf } from './find-function.ts';
import { problemWith } from './problem-with.ts';

const DATA_BYTES_MAX = 131_072;
const WORD_BYTES = 32;
const PROBLEMS_MAX = 10;
const READ_MAX = 40_000;
const TEXT_BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: READ_MAX };
const NAMED_MAX = 10;

/** Client's JSON for viem, by a layout without names: tuples become arrays. */
export class ArgumentReader {
  readonly #problems: ParameterProblem[] = [];
  #bytes = 0;
  #read = 0;

  /**
   * @returns null for a value that does not fit, which `end` reports
   * @throws InvalidParameterError at the tenth such value, or above the maximum size of a call
   */
  read(type: AbiType, given: unknown, path: string): unknown {
    this.#read += 1;
    if (this.#read > READ_MAX) throw tooMuch();
    return (given === undefined ? null : this.#valueOf(type, given, path)) ?? this.#refuse(type, given, path);
  }

  /** After the last `read`. @throws InvalidParameterError with each value that did not fit */
  end(): void {
    if (this.#problems.length > 0) throw new InvalidParameterError(...this.#problems);
  }

  #valueOf(type: AbiType, given: unknown, path: string): unknown {
    const { of, count } = arrayParts(type);
    if (of !== null) return this.#list(of, count, given, path);
    if (type.components !== undefined) return this.#members(type.components, given, path);
    const value = leafOf(type.type, given);
    this.#spend(WORD_BYTES);
    if (type.type === 'string' && typeof value === 'string') this.#spend(WORD_BYTES + Buffer.byteLength(value));
    if (type.type === 'bytes' && typeof value === 'string') this.#spend(WORD_BYTES + value.length / 2);
    return value;
  }

  #list(item: AbiType, count: number | null, given: unknown, path: string): unknown[] | null {
    const items = structureOf(given);
    if (!Array.isArray(items) || (count !== null && items.length !== count)) return null;
    this.#spend(WORD_BYTES);
    return items.map((value: unknown, index) => this.read(item, value, `${path}.${index}`));
  }

  #members(members: readonly AbiType[], given: unknown, path: string): unknown[] | null {
    const structure = structureOf(given);
    if (typeof structure !== 'object' || structure === null) return null;
    if (Array.isArray(structure) && structure.length !== members.length) return null;
    const byName = !Array.isArray(structure);
    return members.map((member, index) => {
      const key = byName ? keyOf(member, index) : String(index);
      return this.read(member, Object.getOwnPropertyDescriptor(structure, key)?.value, `${path}.${key}`);
    });
  }

  #refuse(type: AbiType, given: unknown, path: string): null {
    this.#problems.push(problemWith(path, given, allowedFor(type)));
    if (this.#problems.length >= PROBLEMS_MAX) this.end();
    return null;
  }

  #spend(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > DATA_BYTES_MAX) throw tooMuch();
  }
}

function tooMuch(): InvalidParameterError {
  return new InvalidParameterError({
    parameter: 'params',
    message: `params come to more than the ${DATA_BYTES_MAX} bytes that a call may carry`,
  });
}

const ARRAY = /^(.*)\[(\d*)\]$/;

/** `of` null: not an array. */
function arrayParts(type: AbiType): { readonly of: AbiType | null; readonly count: number | null } {
  const [, item, count] = ARRAY.exec(type.type) ?? [];
  if (item === undefined) return { of: null, count: null };
  return { of: { ...type, type: item }, count: count === undefined || count === '' ? null : Number(count) };
}

/** JSON, or text of JSON; undefined for other text. @throws JsonBoundsError */
function structureOf(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  try {
    return parseBoundedJson(given, TEXT_BOUNDS);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const ADDRESS = /^0x[0-9a-f]{40}$/i;
const BYTES = /^0x(?:[0-9a-f]{2})*$/i;

/** As viem encodes it; null if it does not fit. */
function leafOf(type: string, given: unknown): string | boolean | bigint | null {
  if (type === 'bool') {
    if (typeof given === 'boolean') return given;
    const text = typeof given === 'string' ? given.toLowerCase() : '';
    return text === 'true' || text === 'false' ? text === 'true' : null;
  }
  const [, sign, digits] = /^(u?)int(\d+)$/.exec(type) ?? [];
  if (digits !== undefined) {
    const value = wholeNumberOf(given);
    const bits = BigInt(digits);
    const [min, max] = sign === 'u' ? [0n, 2n ** bits] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n)];
    return value !== null && value >= min && value < max ? value : null;
  }
  if (typeof given !== 'string') return null;
  // An encoder would replace an unpaired surrogate.
  if (type === 'string') return given.isWellFormed() ? given : null;
  if (type === 'address') return ADDRESS.test(given) ? given.toLowerCase() : null;
  if (!BYTES.test(given)) return null;
  const length = type === 'bytes' ? null : Number(type.slice('bytes'.length));
  return length === null || given.length === 2 + 2 * length ? given.toLowerCase() : null;
}

const DIGITS_MAX = 80;

function wholeNumberOf(given: unknown): bigint | null {
  if (typeof given === 'number') return Number.isSafeInteger(given) ? BigInt(given) : null;
  if (typeof given !== 'string' || given.length > DIGITS_MAX) return null;
  const [, minus, digits] = /^(-?)(\d+|0x[0-9a-f]+)$/i.exec(given) ?? [];
  if (digits === undefined) return null;
  return minus === '' ? BigInt(digits) : -BigInt(digits);
}

function allowedFor(type: AbiType): string {
  const { of, count } = arrayParts(type);
  if (of !== null) return `a list of ${count === null ? '' : `${count} `}${of.type}`;
  if (type.components !== undefined) {
    const names = type.components.slice(0, NAMED_MAX).map(keyOf).join(', ');
    const others = type.components.length - NAMED_MAX;
    return `an object with ${others > 0 ? `${names} and ${others} more` : names}`;
  }
  if (type.type === 'bool') return 'true or false';
  if (type.type === 'string') return 'a text of Unicode characters';
  if (type.type === 'address') return 'an address (0x and 40 hexadecimal digits)';
  if (type.type === 'bytes') return 'bytes (0x and an even number of hexadecimal digits)';
  if (type.type.startsWith('bytes'))
    return `${type.type} (0x and ${2 * Number(type.type.slice(5))} hexadecimal digits)`;
  return `a whole number of the type ${type.type}`;
}
