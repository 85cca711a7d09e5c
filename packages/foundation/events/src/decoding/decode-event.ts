import type { Hash, Hex } from '@chainstead/core';
import type { AbiParameter } from 'viem';
import { encodeAbiParameters } from 'viem/utils';
import { decodeAbi, EncodingRefusedError } from '../abi/index.ts';
import { type AbiBook, isExact } from './abi-book.ts';
import { type AbiEvent, type AbiFunction, abiEvent, layoutOf, SELECTOR_DIGITS } from './abi-entry.ts';
import type { DecodedArgument, DecodedCall, DecodedEvent } from './decoded.ts';
import { showArgument } from './show-argument.ts';

type RawLog = { readonly topics: readonly Hash[]; readonly data: Hex };

/** Null if none or several match. @param books most trusted first */
export function decodeEvent(log: RawLog, books: readonly AbiBook[]): DecodedEvent | null {
  const [topic0] = log.topics;
  if (topic0 === undefined) return null;
  for (const book of books) {
    const events =
      book.functionsWithHash?.(topic0).flatMap((entry) => choicesOf(entry, log)) ?? book.eventsOf(topic0);
    const { source } = book;
    const decoded = events.flatMap((event): DecodedEvent[] => {
      const params = argumentsOf(event, log, isExact(source));
      return params === null
        ? []
        : [{ signature: event.signature, label: event.name, type: 'event', params, source }];
    });
    if (source === 'signatures' && decoded.length > 1) return null;
    const [first] = decoded;
    if (first !== undefined) return first;
  }
  return null;
}

function argumentsOf({ inputs }: AbiEvent, { topics, data }: RawLog, exact: boolean): DecodedArgument[] | null {
  const indexed = inputs.filter(({ isIndexed }) => isIndexed);
  if (indexed.length !== topics.length - 1) return null;
  const values = decodeValues(layoutOf(inputs.filter(({ isIndexed }) => !isIndexed)), data, exact);
  if (values === null) return null;
  const words = topics.slice(1);
  const rest = [...values];
  const shown: DecodedArgument[] = [];
  for (const input of inputs) {
    const argument = input.isIndexed ? indexedArgument(input, words.shift()) : showArgument(input, rest.shift());
    if (argument === null) return null;
    shown.push(argument);
  }
  return shown;
}

function indexedArgument(input: AbiEvent['inputs'][number], word: Hash | undefined): DecodedArgument | null {
  if (word === undefined) return null;
  const { name, type } = input;
  if (type === 'string' || type === 'bytes' || type === 'tuple' || type.endsWith(']'))
    return { name, type, value: word, isHash: true };
  const values = decodeValues(layoutOf([input]), word, true);
  return values === null ? null : showArgument(input, values[0]);
}

const TOPICS_MAX = 3;

function choicesOf({ name, inputs }: AbiFunction, { topics }: RawLog): AbiEvent[] {
  const wanted = topics.length - 1;
  if (wanted > TOPICS_MAX || wanted > inputs.length || inputs.length > INPUTS_MAX) return [];
  return subsets(inputs.length, wanted).map((indexed) => {
    const chosen = inputs.map((input, index) => ({ ...input, isIndexed: indexed.includes(index) }));
    return abiEvent(name, chosen);
  });
}

const INPUTS_MAX = 12;

function subsets(count: number, size: number): readonly (readonly number[])[] {
  if (size === 0) return [[]];
  return Array.from({ length: count }, (_, last) =>
    subsets(last, size - 1).map((rest) => [...rest, last]),
  ).flat();
}

/** Null if none or several match. @param input lower case @param books most trusted first */
export function decodeCall(input: Hex, books: readonly AbiBook[]): DecodedCall | null {
  if (input.length < SELECTOR_DIGITS) return null;
  const selector = input.slice(0, SELECTOR_DIGITS) as Hex;
  const data: Hex = `0x${input.slice(SELECTOR_DIGITS)}`;
  for (const { source, functionsOf } of books) {
    const decoded = functionsOf(selector).flatMap(({ name: label, signature, inputs, layout }): DecodedCall[] => {
      const values = decodeValues(layout, data, isExact(source));
      if (values === null) return [];
      const params = inputs.map((type, index) => showArgument(type, values[index]));
      return [{ signature, label, type: 'function', params, source }];
    });
    if (source === 'signatures' && decoded.length > 1) return null;
    const [first] = decoded;
    if (first !== undefined) return first;
  }
  return null;
}

const OUTPUT_BYTES_MAX = 262_144;

/** Null for other data. @param isExact data must equal the values' encoding */
export function decodeValues(
  layout: readonly AbiParameter[],
  data: Hex,
  isExact: boolean,
): readonly unknown[] | null {
  try {
    const values: readonly unknown[] = decodeAbi(layout, data, { outputBytesMax: OUTPUT_BYTES_MAX });
    return isExact && encodeAbiParameters(layout, values) !== data ? null : values;
  } catch (error) {
    if (error instanceof EncodingRefusedError) return null;
    throw error;
  }
}
