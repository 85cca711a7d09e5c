import type { Hash, Log } from '@chainstead/core';
import type { HistoryFilter } from '../dataset/dataset.ts';

/** Together, they match at least the same logs. Joins equal indexed topics. */
export function joinFilters(filters: readonly HistoryFilter[]): readonly HistoryFilter[] {
  const joined: HistoryFilter[] = [];
  for (const filter of filters) {
    const index = joined.findIndex((before) => mayJoin(before, filter));
    const other = joined[index];
    if (other === undefined) joined.push(filter);
    else joined[index] = join(other, filter);
  }
  return joined;
}

/** As most nodes: a filter with four positions matches only logs with four topics. */
export function givesLog({ topics, indexed = [], addresses }: HistoryFilter, log: Log): boolean {
  if (addresses !== undefined && !addresses.includes(log.address)) return false;
  if (indexed.length > 0 && log.topics.length < 1 + indexed.length) return false;
  if (topics.length > 0 && !isAmong(topics, log.topics[0])) return false;
  return indexed.every((wanted, position) => wanted === null || isAmong(wanted, log.topics[position + 1]));
}

function isAmong(wanted: readonly Hash[], topic: Hash | undefined): boolean {
  return topic !== undefined && wanted.includes(topic);
}

function mayJoin(first: HistoryFilter, other: HistoryFilter): boolean {
  const named = namedBy(first);
  if (named !== namedBy(other)) return false;
  if (JSON.stringify(first.addresses) === JSON.stringify(other.addresses)) return true;
  const [ofAny, ofSome] = first.addresses === undefined ? [first, other] : [other, first];
  return ofAny.addresses === undefined && named !== NO_TOPICS && lengthOf(ofAny) <= lengthOf(ofSome);
}

function lengthOf({ indexed = [] }: HistoryFilter): number {
  return indexed.length;
}

/** Trailing nulls only define the number of topics. */
function namedBy({ indexed = [] }: Pick<HistoryFilter, 'indexed'>): string {
  const last = indexed.findLastIndex((wanted) => wanted !== null);
  return JSON.stringify(indexed.slice(0, last + 1));
}

const NO_TOPICS = namedBy({});
function join(first: HistoryFilter, other: HistoryFilter): HistoryFilter {
  const { indexed } = lengthOf(first) <= lengthOf(other) ? first : other;
  const { addresses } = first.addresses === undefined ? first : other;
  const takesAny = first.topics.length === 0 || other.topics.length === 0;
  const topics = takesAny ? [] : [...new Set([...first.topics, ...other.topics])];
  return { topics, ...(indexed && { indexed }), ...(addresses && { addresses }) };
}
