import { EncodingRefusedError, type LeafReader, type LeafValue, leafReaders } from '@chainstead/abi';
import { type Hash, keccak256Hex, type Log } from '@chainstead/core';
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

/** How to read an event's logs: single parameters, by the readers that decode whole logs elsewhere. */
export function eventAbi({ inputs = [] }: AbiItem): EventAbi {
  const fields = new Map<string, EventField>();
  const ofData = readersOf(inputs.filter(({ indexed }) => indexed !== true)).values();
  let topic = 1;
  for (const input of inputs) {
    const field = input.indexed === true ? indexedField(input, topic++) : dataField(input, ofData.next().value);
    // Parameters may have no name: some ABIs leave the key out.
    if (field !== null && input.name && !fields.has(input.name)) fields.set(input.name, field);
  }
  return { topicCount: topic, fields };
}

/** Of types whose layout can't be told, nothing is read. */
function readersOf(parameters: readonly AbiParameter[]): readonly (LeafReader | null)[] {
  try {
    return leafReaders(parameters);
  } catch (error) {
    if (error instanceof EncodingRefusedError) return [];
    throw error;
  }
}

function indexedField(input: AbiParameter, topic: number): EventField | null {
  const { type } = input;
  if (type === 'string' || type === 'bytes') {
    const kind = { type: 'hash', of: type === 'string' ? 'text' : 'hex' } as const;
    return { kind, read: (log) => log.topics[topic] };
  }
  const [reader] = readersOf([input]);
  return fieldOf(input, reader, (log) => log.topics[topic] ?? '');
}

function dataField(input: AbiParameter, reader: LeafReader | null | undefined): EventField | null {
  return fieldOf(input, reader, (log) => log.data);
}

function fieldOf(
  { type }: AbiParameter,
  reader: LeafReader | null | undefined,
  bytesOf: (log: Log) => string,
): EventField | null {
  const kind = kindOf(type);
  if (kind === null || !reader) return null;
  return {
    kind,
    read: kind.type === 'text' ? (log) => textOf(reader(bytesOf(log))) : (log) => integersAlike(reader(bytesOf(log))),
  };
}

function kindOf(type: string): FieldKind | null {
  const [, family, size] = /^(uint|int|bytes|address|bool|function|string)(\d*)$/.exec(type) ?? [];
  switch (family) {
    case 'uint':
    case 'int':
      return { type: 'number' };
    case 'bool':
      return { type: 'bool' };
    case 'string':
      return { type: 'text' };
    case 'address':
      return { type: 'hex', bytes: 20 };
    case 'function':
      return { type: 'hex', bytes: 24 };
    case 'bytes':
      return { type: 'hex', bytes: size === '' ? null : Number(size) };
    default:
      return null;
  }
}

function textOf(value: LeafValue | undefined): FieldValue | undefined {
  return typeof value === 'string' ? comparableText(value) : undefined;
}

/** All integers alike. */
function integersAlike(value: LeafValue | undefined): FieldValue | undefined {
  return typeof value === 'number' ? BigInt(value) : value;
}

/** Text as filters compare it: letter case counts, but not where the text is hexadecimal. */
export function comparableText(text: string): string {
  return /^0x[0-9a-f]*$/i.test(text) ? text.toLowerCase() : text;
}

/** What a log has of an indexed string. */
export function textHash(text: string): Hash {
  return keccak256Hex(Buffer.from(text));
}
