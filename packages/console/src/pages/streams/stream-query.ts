import { InvalidParameterError, NotFoundError } from '@chainstead/http';
import type { StreamStatus } from '@chainstead/streams';

/** Format of the ids of streams and webhooks. */
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const TEXT_MAX = 200;

export const STATUSES: readonly StreamStatus[] = ['active', 'paused', 'error', 'terminated'];

/** The filters of a stream's webhooks. */
export const SHOWN = ['all', 'failed', 'waiting'] as const;
export type ShownWebhooks = (typeof SHOWN)[number];

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Returns an id from a URL. @throws NotFoundError */
export function readId(text: string, what: 'stream' | 'webhook'): string {
  if (isUuid(text)) return text;
  throw new NotFoundError(`There is no such ${what}`);
}

/** Null: any. @throws InvalidParameterError */
export function readStatus(given: string | undefined): StreamStatus | null {
  if (given === undefined || given === '') return null;
  return among('status', given, STATUSES);
}

/** @throws InvalidParameterError */
export function readShown(given: string | undefined): ShownWebhooks {
  return given === undefined || given === '' ? 'all' : among('show', given, SHOWN);
}

/** Returns the search text; null if it is empty. */
export function readText(given: string | undefined): string | null {
  // Postgres accepts neither.
  const text = (given ?? '').slice(0, TEXT_MAX).replaceAll('\0', '').toWellFormed().trim();
  return text === '' ? null : text;
}

/** @throws InvalidParameterError */
function among<Value extends string>(parameter: string, given: string, allowed: readonly Value[]): Value {
  const found = allowed.find((one) => one === given);
  if (found === undefined) throw new InvalidParameterError({ parameter, given, allowed: allowed.join(', ') });
  return found;
}

/** Returns the query string of a URL: all values other than the defaults. */
export function writeQuery(members: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(members).filter(
    (entry): entry is [string, string] => entry[1] !== null && entry[1] !== '',
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
