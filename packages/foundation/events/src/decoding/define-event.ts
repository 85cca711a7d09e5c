import type { Address, Hash, Hex, Log } from '@chainstead/core';
import type { AbiParameter, AbiParameterToPrimitiveType, ParseAbiItem } from 'viem';
import { decimalAt, decodeAbi, EncodingRefusedError, leafReaders, staticBytes } from '../abi/index.ts';
import type { AbiEvent } from './abi-entry.ts';
import { parseEventSignature } from './parse-signature.ts';

type EventLog = Pick<Log, 'topics' | 'data'>;

export interface DefinedEvent<Values = object, Stored = object> {
  readonly abi: AbiEvent;
  readonly topic: Hash;
  /** Null for another event, number of topics or length of data. Never throws on hostile logs. */
  read(log: EventLog): Values | null;
  /** As columns hold them: integers of more than 48 bits are decimal digits. */
  readStored(log: EventLog): Stored | null;
}

type Inputs<Line extends string> =
  ParseAbiItem<Line> extends { readonly inputs: infer Parameters extends readonly AbiParameter[] }
    ? Extract<Parameters[number], { readonly name: string }>
    : never;

type Value<Input extends AbiParameter> = Input['type'] extends 'address'
  ? Address
  : AbiParameterToPrimitiveType<Input>;

/** Conditional: aliases of mapped types would be compared by their lines, as if all were equal. */
type EventValues<Line extends string> = [Inputs<Line>] extends [infer Named extends AbiParameter]
  ? { readonly [Input in Named as Input['name'] & string]: Value<Input> }
  : never;

type StoredValues<Line extends string> =
  EventValues<Line> extends infer Values
    ? { readonly [Name in keyof Values]: Values[Name] extends bigint ? string : Values[Name] }
    : never;

/**
 * Parameters without a name are neither read nor checked.
 * @throws TypeError for a line that declares no event
 * @example defineEvent('event Sync(uint112 reserve0, uint112 reserve1)')
 */
export function defineEvent<const Line extends string>(
  line: Line,
): DefinedEvent<EventValues<Line>, StoredValues<Line>> {
  const abi = parseEventSignature(line);
  if (abi === null) throw new TypeError(`No event is declared by ${line}`);
  const [read, readStored] = [readerOf(abi, false), readerOf(abi, true)];
  return {
    abi,
    topic: abi.topic0,
    // The types follow from the text that the readers follow from.
    read: (log) => read(log) as EventValues<Line> | null,
    readStored: (log) => readStored(log) as StoredValues<Line> | null,
  };
}

type Input = AbiEvent['inputs'][number];

function readerOf({ inputs, topic0 }: AbiEvent, isStored: boolean): (log: EventLog) => object | null {
  const indexed = inputs.filter(({ isIndexed }) => isIndexed);
  const topicFields = indexed.flatMap((input, index) =>
    input.name === '' ? [] : [{ name: input.name, topic: index + 1, read: topicReader(input) }],
  );
  const readData = dataReader(
    inputs.filter(({ isIndexed }) => !isIndexed),
    isStored,
  );
  return ({ topics, data }) => {
    if (topics[0] !== topic0 || topics.length !== indexed.length + 1) return null;
    const values: Record<string, unknown> = {};
    for (const { name, topic, read } of topicFields) {
      const value = read(topics[topic] ?? '0x');
      if (value === undefined) return null;
      values[name] = isStored && typeof value === 'bigint' ? String(value) : value;
    }
    return readData(data, values) ? values : null;
  };
}

function topicReader(input: Input): (word: Hex) => unknown {
  const isHash = staticBytes([input]) !== WORD_BYTES || input.type === 'tuple' || input.type.endsWith(']');
  const [read = null] = isHash ? [] : leafReaders([input]);
  return read ?? ((word) => word);
}

const WORD_BYTES = 32;

type DataReader = (data: Hex, values: Record<string, unknown>) => boolean;

/** Data of a fixed length has no further bytes. */
function dataReader(inputs: readonly Input[], isStored: boolean): DataReader {
  const leaves = leafReaders(inputs);
  const bytes = staticBytes(inputs);
  const length = bytes === null ? null : 2 + 2 * bytes;
  if (inputs.some(({ name }, index) => name !== '' && leaves[index] === null))
    return nestedReader(inputs, length, isStored);
  const areWords = bytes === WORD_BYTES * inputs.length;
  const fields = inputs.flatMap(({ name, type }, index) => {
    const leaf = leaves[index];
    if (name === '' || leaf === null || leaf === undefined) return [];
    // Small integers become digits without a BigInt.
    const read = isStored && areWords && type === 'uint256' ? (data: Hex) => decimalAt(data, index) : leaf;
    return [{ name, read }];
  });
  return (data, values) => {
    if (length !== null && data.length !== length) return false;
    for (const { name, read } of fields) {
      const value = read(data);
      if (value === undefined) return false;
      values[name] = isStored && typeof value === 'bigint' ? String(value) : value;
    }
    return true;
  };
}

/** Arrays and tuples are decoded together: their cost is measured first. */
function nestedReader(inputs: readonly Input[], length: number | null, isStored: boolean): DataReader {
  return (data, values) => {
    if (length !== null && data.length !== length) return false;
    try {
      const decoded: readonly unknown[] = decodeAbi(inputs, data);
      for (const [index, { name }] of inputs.entries()) {
        const value = decoded[index];
        if (name !== '') values[name] = isStored && typeof value === 'bigint' ? String(value) : value;
      }
      return true;
    } catch (error) {
      if (error instanceof EncodingRefusedError) return false;
      throw error;
    }
  };
}
