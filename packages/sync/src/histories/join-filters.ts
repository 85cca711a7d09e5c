/** Filters of several datasets about one subject: where one answer gives what two ask for, it is asked for once. */
import type { Hash, Log } from '@chainstead/core';
import type { HistoryFilter } from '../dataset.ts';

/**
 * As few filters that together give at least what these do. Two become one where they name the same at the same places: the wider of both then
 * gives the events of both.
 */
export function joinFilters(filters: readonly HistoryFilter[]): readonly HistoryFilter[] {
  const joined: HistoryFilter[] = [];
  for (const filter of filters) {
    const index = joined.findIndex((one) => placesOf(one) === placesOf(filter));
    const other = joined[index];
    if (other === undefined) joined.push(filter);
    else joined[index] = join(other, filter);
  }
  return joined;
}

/** Whether a filter gives a log, as most nodes read it: a filter of four positions gives logs of four topics. */
export function givesLog({ topics, indexed = [], addresses }: HistoryFilter, log: Log): boolean {
  if (addresses !== undefined && !addresses.includes(log.address)) return false;
  if (log.topics.length < 1 + indexed.length || !isAmong(topics, log.topics[0])) return false;
  return indexed.every((wanted, position) => wanted === null || isAmong(wanted, log.topics[position + 1]));
}

function isAmong(wanted: readonly Hash[], topic: Hash | undefined): boolean {
  return topic !== undefined && wanted.includes(topic);
}

/** What is named, and where: a null behind the last of it only says how many topics there are. */
function placesOf({ indexed = [], addresses }: HistoryFilter): string {
  const last = indexed.findLastIndex((wanted) => wanted !== null);
  return JSON.stringify([indexed.slice(0, last + 1), addresses ?? null]);
}

function join(one: HistoryFilter, other: HistoryFilter): HistoryFilter {
  const wider = (one.indexed?.length ?? 0) <= (other.indexed?.length ?? 0) ? one : other;
  return { ...wider, topics: [...new Set([...one.topics, ...other.topics])] };
}
