/** Filters of several datasets about one subject: where one answer gives what two ask for, it is asked for once. */
import type { Hash, Log } from '@chainstead/core';
import type { HistoryFilter } from '../dataset.ts';

/**
 * As few filters that together give at least what these do. Two become one where they name the same at the same places: the wider of both then
 * gives the events of both. One that asks certain contracts joins one that asks any, where topics name somebody and that one grows no
 * wider: what more it brings is little.
 */
export function joinFilters(filters: readonly HistoryFilter[]): readonly HistoryFilter[] {
  const joined: HistoryFilter[] = [];
  for (const filter of filters) {
    const index = joined.findIndex((one) => mayJoin(one, filter));
    const other = joined[index];
    if (other === undefined) joined.push(filter);
    else joined[index] = join(other, filter);
  }
  return joined;
}

/** Whether a filter gives a log, as most nodes read it: a filter of four positions gives logs of four topics. */
export function givesLog({ topics, indexed = [], addresses }: HistoryFilter, log: Log): boolean {
  if (addresses !== undefined && !addresses.includes(log.address)) return false;
  if (indexed.length > 0 && log.topics.length < 1 + indexed.length) return false;
  if (topics.length > 0 && !isAmong(topics, log.topics[0])) return false;
  return indexed.every((wanted, position) => wanted === null || isAmong(wanted, log.topics[position + 1]));
}

function isAmong(wanted: readonly Hash[], topic: Hash | undefined): boolean {
  return topic !== undefined && wanted.includes(topic);
}

function mayJoin(one: HistoryFilter, other: HistoryFilter): boolean {
  const named = namedBy(one);
  if (named !== namedBy(other)) return false;
  if (JSON.stringify(one.addresses) === JSON.stringify(other.addresses)) return true;
  const [ofAny, ofSome] = one.addresses === undefined ? [one, other] : [other, one];
  return ofAny.addresses === undefined && named !== NOBODY && lengthOf(ofAny) <= lengthOf(ofSome);
}

function lengthOf({ indexed = [] }: HistoryFilter): number {
  return indexed.length;
}

/** What topics name, and where: a null behind the last of it only says how many topics there are. */
function namedBy({ indexed = [] }: Pick<HistoryFilter, 'indexed'>): string {
  const last = indexed.findLastIndex((wanted) => wanted !== null);
  return JSON.stringify(indexed.slice(0, last + 1));
}

const NOBODY = namedBy({});

function join(one: HistoryFilter, other: HistoryFilter): HistoryFilter {
  const { indexed } = lengthOf(one) <= lengthOf(other) ? one : other;
  const { addresses } = one.addresses === undefined ? one : other;
  return {
    topics: [one, other].some(({ topics }) => topics.length === 0)
      ? []
      : [...new Set([...one.topics, ...other.topics])],
    ...(indexed === undefined ? {} : { indexed }),
    ...(addresses === undefined ? {} : { addresses }),
  };
}
