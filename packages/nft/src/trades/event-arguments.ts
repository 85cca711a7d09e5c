import { abiSignature, decodeAbi } from '@chainstead/abi';
import { type Address, type Hash, type Hex, keccak256Hex, type Log } from '@chainstead/core';
import type { AbiEvent, AbiParameter } from 'abitype';
import type { AbiEventParametersToPrimitiveTypes } from 'viem';

export function topicOf(event: AbiEvent): Hash {
  return layoutOf(event).topic;
}

type EventArguments<Event extends AbiEvent> = AbiEventParametersToPrimitiveTypes<
  Event['inputs'],
  { EnableUnion: false; IndexedOnly: false; Required: true }
>;

/** Arguments by name; null for another event or an invalid encoding. Arguments and struct members need names. */
export function eventArguments<const Event extends AbiEvent>(event: Event, log: Log): EventArguments<Event> | null {
  const { topic, indexed, data } = layoutOf(event);
  const [topic0, ...topics] = log.topics;
  if (topic0 !== topic || topics.length !== indexed.length) return null;
  try {
    const values: readonly unknown[] = decodeAbi(data, log.data);
    const args: unknown = Object.fromEntries([
      ...indexed.map((input, index) => [input[0].name, decodeAbi(input, topics[index] ?? '0x')[0]]),
      ...data.map(({ name }, index) => [name, values[index]]),
    ]);
    return args as EventArguments<Event>;
  } catch {
    // A log with any encoding error is ignored.
    return null;
  }
}

export function lowerCase(address: Hex): Address {
  return address.toLowerCase() as Address;
}

interface EventLayout {
  readonly topic: Hash;
  readonly indexed: readonly (readonly [AbiParameter])[];
  readonly data: readonly AbiParameter[];
}

const layouts = new WeakMap<AbiEvent, EventLayout>();

/** Cached: hashing a signature takes longer than decoding a log. */
function layoutOf(event: AbiEvent): EventLayout {
  const cached = layouts.get(event);
  if (cached !== undefined) return cached;
  const layout = {
    topic: keccak256Hex(Buffer.from(abiSignature(event.name, event.inputs))),
    indexed: event.inputs.filter((input) => input.indexed === true).map((input) => [input] as const),
    data: event.inputs.filter((input) => input.indexed !== true),
  };
  layouts.set(event, layout);
  return layout;
}
