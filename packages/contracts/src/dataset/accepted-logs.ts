/** Chooses the table of a log among those of a contract. Pure. */
import type { Log } from '@chainstead/core';
import type { EventTable, LogPlace } from '../tables/event-table.ts';
import { indexedCount, isNamedEvent } from '../tables/log-shape.ts';

/** Whether a log of the contract belongs to a table. */
export type AcceptsLog = (log: Pick<Log, 'topics' | 'blockNumber' | 'logIndex'>) => boolean;

/**
 * Returns which logs belong to the table of an event. Forms of one event have the same first topic: an upgraded contract may index other
 * parameters. The number of topics decides, then the place of the upgrade. A log that no form fits belongs to the first one.
 * @param tables of the same emitters
 */
export function acceptedLogs(table: EventTable, tables: readonly EventTable[]): AcceptsLog {
  if (table.abi.isAnonymous) return acceptedAnonymous(table);
  const { topic0 } = table.abi;
  const forms = tables.filter((other) => isNamedEvent(other) && other.abi.topic0 === topic0);
  if (forms.length <= 1) return ({ topics }) => topics[0] === topic0;
  const byCount = Map.groupBy(forms.toSorted(bySince), indexedCount);
  const isFirst = forms[0]?.name === table.name;
  return (log) => {
    if (log.topics[0] !== topic0) return false;
    const alike = byCount.get(log.topics.length - 1);
    if (alike === undefined) return isFirst;
    const form = alike.findLast(({ since }) => since === null || isFrom(log, since)) ?? alike[0];
    return form?.name === table.name;
  };
}

/** Logs of other events are excluded by their first topic. Data decides about the rest. */
function acceptedAnonymous(table: EventTable): AcceptsLog {
  const count = indexedCount(table);
  const others = new Set(table.otherTopics);
  return ({ topics }) => topics.length === count && (topics[0] === undefined || !others.has(topics[0]));
}

function bySince({ since: one }: EventTable, { since: other }: EventTable): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null);
  return one.block - other.block || one.log - other.log;
}

function isFrom({ blockNumber, logIndex }: Pick<Log, 'blockNumber' | 'logIndex'>, { block, log }: LogPlace): boolean {
  return blockNumber > block || (blockNumber === block && logIndex >= log);
}
