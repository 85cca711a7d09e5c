/** Joins log filters of several datasets for one subject, so that common logs are requested once. */
import type { Hash, Log } from '@chainstead/core';
import type { HistoryFilter } from '../dataset/dataset.ts';

/**
 * Returns few filters that together match at least the logs of the given ones. Two filters with the same indexed topics
 * become one with the events of both. A filter for certain contracts joins one for all contracts if the topics contain
 * the subject and no topics are added: it then matches only few more logs.
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

/**
 * Returns whether a filter matches a log, by the rules of most nodes: a filter with four positions matches only logs
 * with four topics.
 */
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

/** Returns the indexed topics and their positions. Trailing nulls only define the number of topics. */
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
