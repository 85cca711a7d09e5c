import type { Address, Hash, Hex, Log } from '@chainstead/core';
import { type AbiEvent, type AbiEventParametersToPrimitiveTypes, decodeEventLog, toEventSelector } from 'viem';

/** keccak256 of the event's signature. */
export function topicOf(event: AbiEvent): Hash {
  return toEventSelector(event) as Hash;
}

/** Arguments by name. */
type EventArguments<Event extends AbiEvent> = AbiEventParametersToPrimitiveTypes<
  Event['inputs'],
  { EnableUnion: false; IndexedOnly: false; Required: true }
>;

/** What a log says as this event, by name; null where it is another event or no encoding of this one. Addresses have mixed case. */
export function eventArguments<const Event extends AbiEvent>(event: Event, log: Log): EventArguments<Event> | null {
  const [signature, ...indexed] = log.topics;
  const expected = event.inputs.filter((input) => input.indexed === true).length;
  if (signature === undefined || indexed.length !== expected) return null;
  try {
    const { args } = decodeEventLog({ abi: [event], topics: [signature as Hash, ...indexed], data: log.data });
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
