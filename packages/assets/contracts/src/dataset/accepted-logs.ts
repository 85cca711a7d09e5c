import type { Log } from '@chainstead/core';
import type { EventTable } from '../tables/event-table.ts';
import { dependOnImplementation, formAt, indexedCount, isNamedEvent } from '../tables/form-at-log.ts';

export type AcceptsLog = (log: Pick<Log, 'topics' | 'blockNumber' | 'logIndex'>) => boolean;

/**
 * The number of topics decides, then the upgrade's place. Logs that fit no form: the first one.
 * All are accepted if the emitter's implementation decides.
 */
export function acceptedLogs(table: EventTable, tables: readonly EventTable[]): AcceptsLog {
  if (table.abi.isAnonymous) {
    const others = new Set(table.otherTopics);
    const count = indexedCount(table);
    return ({ topics }) => topics.length === count && (topics[0] === undefined || !others.has(topics[0]));
  }
  const { topic0 } = table.abi;
  const forms = tables.filter((other) => isNamedEvent(other) && other.abi.topic0 === topic0);
  const [first] = forms;
  if (first === undefined || forms.length === 1) return ({ topics }) => topics[0] === topic0;
  const byCount = new Map(
    [...Map.groupBy(forms, indexedCount)].map(([count, alike]) => [
      count,
      { alike, isOpen: dependOnImplementation(alike), isOwn: alike.some(({ name }) => name === table.name) },
    ]),
  );
  return (log) => {
    if (log.topics[0] !== topic0) return false;
    const fitting = byCount.get(log.topics.length - 1);
    const { alike, isOpen, isOwn } = fitting ?? byCount.get(indexedCount(first)) ?? NO_FORMS;
    if (isOpen) return isOwn;
    if (fitting === undefined) return first.name === table.name;
    return formAt(alike, { block: log.blockNumber, log: log.logIndex }, null)?.name === table.name;
  };
}

const NO_FORMS = { alike: [], isOpen: false, isOwn: false };
