import type { Hash, Log } from '@chainstead/core';
import { keccak256, stringToBytes } from 'viem';
import type { AbiItem, AbiParameter } from '../stream.ts';

/** A parameter's value, as filters compare it: hexadecimal text in lower case. */
export type FieldValue = bigint | boolean | string;

/** What a filter may compare a parameter with. */
export type FieldKind =
  | { readonly type: 'number' }
  | { readonly type: 'bool' }
  | { readonly type: 'text' }
  /** Hexadecimal text; of exactly so many bytes, or of any number where `bytes` is null. */
  | { readonly type: 'hex'; readonly bytes: number | null }
  /** An indexed string or bytes: of its value the log has only the keccak256. */
  | { readonly type: 'hash'; readonly of: 'text' | 'hex' };

export interface EventField {
  readonly kind: FieldKind;
  /** The value in a log; undefined where the log's bytes are no such value. Never throws. */
  readonly read: (log: Log) => FieldValue | undefined;
}

/** One event of an ABI. */
export interface EventAbi {
  /** Topics that a log of it has: topic0 and one for each indexed parameter. */
  readonly topicCount: number;
  /** Parameters by name. Left out are tuples, arrays and what Solidity does not have yet (`fixed`): nothing compares them. */
  readonly fields: ReadonlyMap<string, EventField>;
}

/** How to read an event's logs. */
export function eventAbi(item: AbiItem): EventAbi {
  const inputs = item.inputs ?? [];
  const fields = new Map<string, EventField>();
  let topic = 1;
  let word = 0;
  for (const input of inputs) {
    const field = input.indexed === true ? indexedField(input, topic++) : dataField(input, word);
    if (input.indexed !== true) word += headWords(input) ?? 1;
    // Parameters may have no name: some ABIs leave the key out.
    if (field !== null && input.name && !fields.has(input.name)) fields.set(input.name, field);
  }
  return { topicCount: topic, fields };
}

const WORD_DIGITS = 64;
const PREFIX_DIGITS = 2;
const WORD_BYTES = 32;

function indexedField(input: AbiParameter, topic: number): EventField | null {
  const { type } = input;
  if (type === 'string' || type === 'bytes') {
    const kind = { type: 'hash', of: type === 'string' ? 'text' : 'hex' } as const;
    return { kind, read: (log) => log.topics[topic] };
  }
  const reader = wordReader(type);
  if (reader === null) return null;
  const { kind, readWord } = reader;
  return { kind, read: (log) => readWord((log.topics[topic] ?? '').slice(PREFIX_DIGITS)) };
}

function dataField(input: AbiParameter, word: number): EventField | null {
  const { type } = input;
  if (type === 'string') return { kind: { type: 'text' }, read: (log) => textOf(bytesAt(log.data, word)) };
  if (type === 'bytes')
    return {
      kind: { type: 'hex', bytes: null },
      read: (log) => {
        const digits = bytesAt(log.data, word);
        return digits === undefined ? undefined : `0x${digits}`;
      },
    };
  const reader = wordReader(type);
  if (reader === null) return null;
  const { kind, readWord } = reader;
  return { kind, read: (log) => readWord(wordAt(log.data, word)) };
}

/** Reads a value that fits into a word; `digits` are its 64, fewer where the log ends before. */
interface WordReader {
  readonly kind: FieldKind;
  readonly readWord: (digits: string) => FieldValue | undefined;
}

function wordReader(type: string): WordReader | null {
  const [, family, size] = /^(uint|int|bytes|address|bool|function)(\d*)$/.exec(type) ?? [];
  const whole = (read: (digits: string) => FieldValue) => (digits: string) =>
    digits.length === WORD_DIGITS ? read(digits) : undefined;
  switch (family) {
    case 'uint':
      return { kind: { type: 'number' }, readWord: whole((digits) => BigInt(`0x${digits}`)) };
    case 'int':
      return { kind: { type: 'number' }, readWord: whole((digits) => BigInt.asIntN(256, BigInt(`0x${digits}`))) };
    case 'bool':
      return { kind: { type: 'bool' }, readWord: whole((digits) => /[^0]/.test(digits)) };
    case 'address':
      return { kind: { type: 'hex', bytes: 20 }, readWord: whole((digits) => `0x${digits.slice(24)}`) };
    case 'bytes':
    case 'function': {
      const bytes = family === 'function' ? 24 : Number(size);
      return { kind: { type: 'hex', bytes }, readWord: whole((digits) => `0x${digits.slice(0, 2 * bytes)}`) };
    }
    default:
      return null;
  }
}

function wordAt(data: string, place: number): string {
  const start = PREFIX_DIGITS + place * WORD_DIGITS;
  return data.slice(start, start + WORD_DIGITS);
}

/** The digits of a value of any length, whose offset is at this place of the head; undefined where they are not all there. */
function bytesAt(data: string, place: number): string | undefined {
  const offset = countOf(wordAt(data, place));
  if (offset === null) return undefined;
  const start = PREFIX_DIGITS + 2 * offset;
  const length = countOf(data.slice(start, start + WORD_DIGITS));
  if (length === null) return undefined;
  const content = data.slice(start + WORD_DIGITS, start + WORD_DIGITS + 2 * length);
  return content.length === 2 * length ? content : undefined;
}

/** A word as an offset or a length; null when it is cut short or larger than any log's data. */
function countOf(digits: string): number | null {
  return digits.length === WORD_DIGITS && /^0{56}/.test(digits) ? Number.parseInt(digits, 16) : null;
}

function textOf(digits: string | undefined): string | undefined {
  return digits === undefined ? undefined : comparableText(Buffer.from(digits, 'hex').toString());
}

/** Text as filters compare it: letter case counts, but not where the text is hexadecimal. */
export function comparableText(text: string): string {
  return /^0x[0-9a-f]*$/i.test(text) ? text.toLowerCase() : text;
}

/** What a log has of an indexed string. */
export function textHash(text: string): Hash {
  return keccak256(stringToBytes(text)) as Hash;
}

/** Nesting of arrays and tuples that is looked into. */
const NESTING_MAX = 32;

/** Words that a parameter takes among the data's first ones; null where its type can't be told. */
function headWords(input: { readonly type: string; readonly components?: unknown }, nesting = 0): number | null {
  const size = staticBytes(input, nesting);
  return size === null ? null : size === 'dynamic' ? 1 : size / WORD_BYTES;
}

type StaticSize = number | 'dynamic' | null;

function staticBytes(input: { readonly type: string; readonly components?: unknown }, nesting: number): StaticSize {
  if (nesting > NESTING_MAX) return null;
  const [, element, count] = /^(.+)\[(\d*)\]$/.exec(input.type) ?? [];
  if (element !== undefined) {
    const size = staticBytes({ ...input, type: element }, nesting + 1);
    return size === null || size === 'dynamic' || count === '' ? 'dynamic' : size * Number(count);
  }
  if (input.type === 'string' || input.type === 'bytes') return 'dynamic';
  if (input.type !== 'tuple') return WORD_BYTES;
  return Array.isArray(input.components) ? tupleBytes(input.components, nesting + 1) : null;
}

function tupleBytes(components: readonly { readonly type: string }[], nesting: number): StaticSize {
  let bytes = 0;
  for (const component of components) {
    const size = staticBytes(component, nesting);
    if (typeof size !== 'number') return size;
    bytes += size;
  }
  return bytes;
}
