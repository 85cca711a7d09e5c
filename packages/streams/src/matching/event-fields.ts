import { EncodingRefusedError, type LeafReader, type LeafValue, leafReaders } from '@chainstead/abi';
import { type Hash, keccak256Hex, type Log } from '@chainstead/core';
import type { AbiItem, AbiParameter } from '../stream.ts';

/** A parameter value in the form compared by filters: hexadecimal text in lower case. */
export type FieldValue = bigint | boolean | string;

/** Value kinds that a filter can compare with a parameter. */
export type FieldKind =
  | { readonly type: 'number' }
  | { readonly type: 'bool' }
  | { readonly type: 'text' }
  /** Hexadecimal text of exactly `bytes` bytes; any length if `bytes` is null. */
  | { readonly type: 'hex'; readonly bytes: number | null }
  /** An indexed string or bytes value: the log contains only its keccak256. */
  | { readonly type: 'hash'; readonly of: 'text' | 'hex' };

export interface EventField {
  readonly kind: FieldKind;
  /** Returns the value in a log; undefined if the log's bytes don't encode one. Never throws. */
  readonly read: (log: Log) => FieldValue | undefined;
}

/** One event of an ABI. */
export interface EventAbi {
  /** Number of topics of its logs: topic0 and one per indexed parameter. */
  readonly topicCount: number;
  /**
   * Parameters by name, without tuples, arrays and `fixed`, which Solidity lacks so far: filters can't compare them.
   */
  readonly fields: ReadonlyMap<string, EventField>;
}

/** Returns readers for single parameters of an event's logs, based on the shared log decoder. */
export function eventAbi({ inputs = [] }: AbiItem): EventAbi {
  const fields = new Map<string, EventField>();
  const ofData = readersOf(inputs.filter(({ indexed }) => indexed !== true)).values();
  let topic = 1;
  for (const input of inputs) {
    const field = input.indexed === true ? indexedField(input, topic++) : dataField(input, ofData.next().value);
    // Parameters may be unnamed: some ABIs omit the key.
    if (field !== null && input.name && !fields.has(input.name)) fields.set(input.name, field);
  }
  return { topicCount: topic, fields };
}

/** Parameters with an unknown layout have no reader. */
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

/** Converts all integers to one type. */
function integersAlike(value: LeafValue | undefined): FieldValue | undefined {
  return typeof value === 'number' ? BigInt(value) : value;
}

/** Returns text in the form compared by filters: case-sensitive, except hexadecimal text. */
export function comparableText(text: string): string {
  return /^0x[0-9a-f]*$/i.test(text) ? text.toLowerCase() : text;
}

/** Returns the log's representation of an indexed string. */
export function textHash(text: string): Hash {
  return keccak256Hex(Buffer.from(text));
}
