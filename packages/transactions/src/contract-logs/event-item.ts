import { type AbiBook, bookOf, type DecodedEvent, decodeEvent, readAbiItem } from '@chainstead/decoding';
import { InvalidParameterError } from '@chainstead/http';
import type { ContractLog } from './get-contract-logs.ts';

/** An event from a client's ABI item. */
export interface EventItem {
  readonly signature: string;
  readonly topic0: string;
  readonly book: AbiBook;
}

/**
 * Parses the ABI item of an event.
 * @param topic that the client also gave; undefined: none
 * @throws InvalidParameterError for an item that is not an event, for an anonymous one, and for a topic that is not its
 * hash
 */
export function readEventItem(given: Readonly<Record<string, unknown>>, topic: string | undefined): EventItem {
  const read = readAbiItem({ ...given, type: given.type ?? 'event' });
  if (read === null || typeof read === 'string' || read.kind !== 'event') {
    const reason = typeof read === 'string' ? read : 'a function, a constructor or an error';
    throw new InvalidParameterError({
      parameter: 'body',
      message: `body must be the ABI item of an event that is not anonymous, and it has ${reason}`,
    });
  }
  const { signature, topic0 } = read.entry;
  if (topic !== undefined && topic !== topic0)
    throw new InvalidParameterError({
      parameter: 'topic',
      given: topic,
      allowed: `the hash of ${signature} (${topic0})`,
    });
  return { signature, topic0, book: bookOf('contract', { functions: [], events: [read.entry] }) };
}

/** Returns the log decoded as the event; null if its topics or data don't match. */
export function decodeAs({ book }: EventItem, { topics, data }: ContractLog): DecodedEvent | null {
  return decodeEvent({ topics, data }, [book]);
}

/** Returns a decoded event's values by parameter; one without a name has its position. */
export function valuesOf({ params }: DecodedEvent): Readonly<Record<string, string>> {
  return Object.fromEntries(params.map(({ name, value }, place) => [name === '' ? String(place) : name, value]));
}
