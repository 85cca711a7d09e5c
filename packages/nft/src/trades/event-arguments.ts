import { abiSignature, decodeAbi } from '@chainstead/abi';
import { type Address, type Hash, type Hex, keccak256Hex, type Log } from '@chainstead/core';
import type { AbiEvent, AbiParameter } from 'abitype';
import type { AbiEventParametersToPrimitiveTypes } from 'viem';

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
  const { topic, indexed, data } = layoutOf(event);
  const [topic0, ...topics] = log.topics;
  if (topic0 !== topic || topics.length !== indexed.length) return null;
  try {
    const values: readonly unknown[] = decodeAbi(data, log.data);
    const args: unknown = Object.fromEntries([
      ...indexed.map((input, place) => [input[0].name, decodeAbi(input, topics[place] ?? '0x')[0]]),
      ...data.map(({ name }, place) => [name, values[place]]),
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
  /** Each by itself: a topic has one. */
  readonly indexed: readonly (readonly [AbiParameter])[];
  readonly data: readonly AbiParameter[];
}

const layouts = new WeakMap<AbiEvent, EventLayout>();

/** Worked out once: hashing a signature takes longer than reading a log. */
function layoutOf(event: AbiEvent): EventLayout {
  const known = layouts.get(event);
  if (known !== undefined) return known;
  const layout = {
    topic: keccak256Hex(Buffer.from(abiSignature(event.name, event.inputs))),
    indexed: event.inputs.filter((input) => input.indexed === true).map((input) => [input] as const),
    data: event.inputs.filter((input) => input.indexed !== true),
  };
  layouts.set(event, layout);
  return layout;
}
