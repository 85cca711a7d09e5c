import { type AbiBook, bookOf, type DecodedEvent, decodeEvent, readAbiItem } from '@chainstead/events/decoding';
import { InvalidParameterError } from '@chainstead/http';
import type { ContractLog } from './contract-logs-page.ts';

export interface EventItem {
  readonly signature: string;
  readonly topic0: string;
  readonly book: AbiBook;
}

/** `topic`: given by the client. @throws InvalidParameterError for other items or another topic */
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

export function decodeAs({ book }: EventItem, log: ContractLog): DecodedEvent | null {
  const topics = [log.topic0, log.topic1, log.topic2, log.topic3].flatMap((topic) => topic ?? []);
  return decodeEvent({ topics, data: `0x${log.data}` }, [book]);
}

export function valuesOf({ params }: DecodedEvent): Readonly<Record<string, string>> {
  return Object.fromEntries(params.map(({ name, value }, place) => [name === '' ? String(place) : name, value]));
}
