import { decodeAbi } from '@chainstead/abi';
import type { Address, Hash, Hex, Log } from '@chainstead/core';
import {
  type AbiEvent,
  type AbiEventParametersToPrimitiveTypes,
  type AbiParameter,
  decodeAbiParameters,
  toEventSelector,
} from 'viem';

/** keccak256 of the event's signature. */
export function topicOf(event: AbiEvent): Hash {
  return layoutOf(event).topic;
}

/** Arguments by name. */
type EventArguments<Event extends AbiEvent> = AbiEventParametersToPrimitiveTypes<
  Event['inputs'],
  { EnableUnion: false; IndexedOnly: false; Required: true }
>;

/**
 * What a log says as this event, by name; null where it is another event or no encoding of this one. Arguments and members
 * of structs must have names.
 */
export function eventArguments<const Event extends AbiEvent>(event: Event, log: Log): EventArguments<Event> | null {
  const { topic, indexed, data, words } = layoutOf(event);
  const [topic0, ...topics] = log.topics;
  if (topic0 !== topic || topics.length !== indexed.length) return null;
  try {
    const values: readonly unknown[] = decodeAbi(words, log.data);
    const args: unknown = Object.fromEntries([
      ...indexed.map(({ name, words: word, read }, place) => [
        name,
        read(decodeAbiParameters([word], topics[place] ?? '0x')[0]),
      ]),
      ...data.map(({ name, read }, place) => [name, read(values[place])]),
    ]);
    return args as EventArguments<Event>;
  } catch {
    // Whatever is wrong with it, a log that is no encoding of the event says nothing.
    return null;
  }
}

/** An address as it is kept: lower case. */
export function lowerCase(address: Hex): Address {
  return address.toLowerCase() as Address;
}

interface EventLayout {
  readonly topic: Hash;
  readonly indexed: readonly Argument[];
  readonly data: readonly Argument[];
  /** Of `data`, as they are decoded. */
  readonly words: readonly AbiParameter[];
}

/** An argument as it is decoded: with words in place of addresses, which viem would hash for their checksums. */
interface Argument {
  readonly name: string;
  readonly words: AbiParameter;
  /** Gives the argument with addresses in place of words. */
  read(value: unknown): unknown;
}

const layouts = new WeakMap<AbiEvent, EventLayout>();

/** Worked out once: hashing a signature takes longer than reading a log. */
function layoutOf(event: AbiEvent): EventLayout {
  const known = layouts.get(event);
  if (known !== undefined) return known;
  const data = event.inputs.filter((input) => input.indexed !== true).map(argumentOf);
  const layout = {
    topic: toEventSelector(event) as Hash,
    indexed: event.inputs.filter((input) => input.indexed === true).map(argumentOf),
    data,
    words: data.map((argument) => argument.words),
  };
  layouts.set(event, layout);
  return layout;
}

function argumentOf(parameter: AbiParameter): Argument {
  return { name: parameter.name ?? '', words: withWords(parameter), read: readerOf(parameter) };
}

function withWords(parameter: AbiParameter): AbiParameter {
  const type = parameter.type.replace(/^address\b/, 'bytes32');
  return 'components' in parameter
    ? { ...parameter, components: parameter.components.map(withWords) }
    : { ...parameter, type };
}

function readerOf(parameter: AbiParameter): (value: unknown) => unknown {
  const member = /^(.*)\[\d*\]$/.exec(parameter.type)?.[1];
  if (member !== undefined) {
    const read = readerOf({ ...parameter, type: member });
    return (values) => (Array.isArray(values) ? values.map(read) : values);
  }
  if (parameter.type === 'address') return (word) => (typeof word === 'string' ? `0x${word.slice(-40)}` : word);
  if (!('components' in parameter)) return (value) => value;
  const members = parameter.components.map((component) => [component.name ?? '', readerOf(component)] as const);
  return (struct) =>
    Object.fromEntries(members.map(([name, read]) => [name, read((struct as Record<string, unknown>)[name])]));
}
