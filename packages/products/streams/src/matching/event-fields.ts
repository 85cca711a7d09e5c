import { type Hash, keccak256Hex, type Log } from '@chainstead/core';
import { EncodingRefusedError, type LeafReader, leafReaders } from '@chainstead/events/abi';
import type { AbiItem, AbiParameter } from '../stream.ts';

/** Hexadecimal text in lower case. */
export type FieldValue = bigint | boolean | string;

export type FieldKind =
  | { readonly type: 'number' }
  | { readonly type: 'bool' }
  | { readonly type: 'text' }
  /** Null: any length. */
  | { readonly type: 'hex'; readonly bytes: number | null }
  /** Indexed string or bytes: the log has only its keccak256. */
  | { readonly type: 'hash'; readonly of: 'text' | 'hex' };

export interface EventField {
  readonly kind: FieldKind;
  /** Type and position: fields of several streams with the same one read the same. */
  readonly place: string;
  /** Undefined if the log's bytes don't encode one. Longer values may be cut after `bytesMax`. Never throws. */
  readonly read: (log: Log, bytesMax?: number) => FieldValue | undefined;
}

export interface EventAbi {
  readonly topicCount: number;
  /** Without tuples, arrays and `fixed`: filters can't compare them. */
  readonly fields: ReadonlyMap<string, EventField>;
}

export function eventAbi({ inputs = [] }: AbiItem): EventAbi {
  const fields = new Map<string, EventField>();
  const ofData = readersOf(inputs.filter(({ indexed }) => indexed !== true)).values();
  let topic = 1;
  for (const input of inputs) {
    const field =
      input.indexed === true
        ? indexedField(input, topic++)
        : fieldOf(input, ofData.next().value, 'data', (log) => log.data);
    if (field !== null && input.name && !fields.has(input.name)) fields.set(input.name, field);
  }
  return { topicCount: topic, fields };
}

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
    return { kind, place: `topic ${topic}`, read: (log) => log.topics[topic] };
  }
  const [reader] = readersOf([input]);
  return fieldOf(input, reader, `topic ${topic}`, (log) => log.topics[topic] ?? '');
}

function fieldOf(
  { type }: AbiParameter,
  reader: LeafReader | null | undefined,
  source: string,
  bytesOf: (log: Log) => string,
): EventField | null {
  const kind = kindOf(type);
  if (kind === null || !reader) return null;
  const read: EventField['read'] = (log, bytesMax) => {
    const value = reader(bytesOf(log), bytesMax);
    if (kind.type === 'text') return typeof value === 'string' ? comparableText(value) : undefined;
    return typeof value === 'number' ? BigInt(value) : value;
  };
  return { kind, place: `${source} ${reader.head} ${type}`, read };
}

const KINDS: ReadonlyMap<string | undefined, FieldKind> = new Map<string, FieldKind>([
  ['uint', { type: 'number' }],
  ['int', { type: 'number' }],
  ['bool', { type: 'bool' }],
  ['string', { type: 'text' }],
  ['address', { type: 'hex', bytes: 20 }],
  ['function', { type: 'hex', bytes: 24 }],
]);

function kindOf(type: string): FieldKind | null {
  const [, family, size] = /^(uint|int|bytes|address|bool|function|string)(\d*)$/.exec(type) ?? [];
  if (family === 'bytes') return { type: 'hex', bytes: size === '' ? null : Number(size) };
  return KINDS.get(family) ?? null;
}

export function comparableText(text: string): string {
  return /^0x[0-9a-f]*$/i.test(text) ? text.toLowerCase() : text;
}

export function textHash(text: string): Hash {
  return keccak256Hex(Buffer.from(text));
}
