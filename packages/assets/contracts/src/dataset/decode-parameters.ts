import type { Hash, Hex, Log } from '@chainstead/core';
import { decodeAbi, EncodingRefusedError } from '@chainstead/events/abi';
import { decodeValues, layoutOf, storableJson } from '@chainstead/events/decoding';
import { CALL_COLUMNS, type EventTable, type ParameterColumn } from '../tables/event-table.ts';

type Value = string | boolean;
type Values = readonly Value[] | null;
type Layout = ReturnType<typeof layoutOf>;

const VALUES_BYTES_MAX = 1_048_576;

/** Data of an anonymous event must equal the encoding of its values. */
export function logDecoder({ abi, parameters }: EventTable): (log: Pick<Log, 'topics' | 'data'>) => Values {
  const isIndexed = abi.inputs.map((input) => input.isIndexed);
  const columns = parameters.map((column, index) => ({ column, isIndexed: isIndexed[index] === true }));
  const firstTopic = abi.isAnonymous ? 0 : 1;
  const topicCount = columns.filter((one) => one.isIndexed).length + firstTopic;
  const layout = layoutOf(columns.filter((one) => !one.isIndexed).map(({ column }) => column.abiType));
  const layouts = columns.map(({ column }) => layoutOf([column.abiType]));
  const decodeData = abi.isAnonymous ? exactValues : valuesOf;
  return ({ topics, data }) => {
    if (topics.length !== topicCount) return null;
    const inData = decodeData(layout, data);
    if (inData === null) return null;
    const values: Value[] = [];
    let topic = firstTopic;
    let place = 0;
    for (const [index, { column, ...one }] of columns.entries()) {
      const word = one.isIndexed ? (topics[topic++] ?? NO_WORD) : null;
      if (word !== null && column.isHash) values.push(word);
      else {
        const decoded = word === null ? [inData[place++]] : valuesOf(layouts[index] ?? [], word);
        if (decoded === null) return null;
        values.push(columnValue(column, decoded[0]));
      }
    }
    return values;
  };
}

/** As contracts do, ignores data after the parameters. */
export function callDecoder({ parameters }: EventTable): (data: Hex) => Values {
  const columns = parameters.slice(CALL_COLUMNS.length);
  const layout = layoutOf(columns.map(({ abiType }) => abiType));
  return (data) => valuesOf(layout, data)?.map((value, index) => columnValue(columns[index], value)) ?? null;
}

const NO_WORD: Hash | Hex = '0x';

function valuesOf(layout: Layout, data: Hex): readonly unknown[] | null {
  try {
    const values: readonly unknown[] = decodeAbi(layout, data, LIMITS);
    return keepsText(layout, data, values) ? values : null;
  } catch (error) {
    if (error instanceof EncodingRefusedError) return null;
    throw error;
  }
}

const LIMITS = { outputBytesMax: VALUES_BYTES_MAX };
const REPLACEMENT = '\ufffd';

function keepsText(layout: Layout, data: Hex, values: readonly unknown[]): boolean {
  if (!hasReplacement(values)) return true;
  return equalBytes(values, decodeAbi(layout.map(asBytes), data, LIMITS));
}

function hasReplacement(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(REPLACEMENT);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasReplacement);
}

function asBytes(parameter: Layout[number]): Layout[number] {
  const type = parameter.type.replace(/^string/, 'bytes');
  if (!('components' in parameter)) return { ...parameter, type };
  return { ...parameter, type, components: parameter.components.map(asBytes) };
}

function equalBytes(value: unknown, bytes: unknown): boolean {
  if (typeof value === 'string') return value === bytes || `0x${Buffer.from(value).toString('hex')}` === bytes;
  if (typeof value !== 'object' || value === null) return true;
  const others: readonly unknown[] = Object.values(bytes ?? {});
  return Object.values(value).every((one, index) => equalBytes(one, others[index]));
}

function exactValues(layout: Layout, data: Hex): readonly unknown[] | null {
  const values = decodeValues(layout, data, true);
  return values !== null && keepsText(layout, data, values) ? values : null;
}

function columnValue(column: ParameterColumn | undefined, value: unknown): Value {
  if (typeof value === 'boolean') return value;
  return column?.type === 'jsonb' ? storableJson(column.abiType, value) : String(value);
}
