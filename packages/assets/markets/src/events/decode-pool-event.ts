import type { Hash } from '@chainstead/core';
import { binEvents } from './bin-events.ts';
import { concentratedEvents } from './concentrated-events.ts';
import { managerEvents } from './manager-events.ts';
import { namedTokenEvents } from './named-token-events.ts';
import type { EventLog, PoolEvent, PoolEventDecoder } from './pool-event.ts';
import { type PoolVaults, poolInVault } from './pool-vaults.ts';
import { reserveEvents } from './reserve-events.ts';

const decoders: readonly PoolEventDecoder[] = [
  ...reserveEvents,
  ...concentratedEvents,
  ...managerEvents,
  ...binEvents,
  ...namedTokenEvents,
];

const byTopic: ReadonlyMap<string, PoolEventDecoder> = new Map(
  decoders.map((decoder) => [decoder.event.topic, decoder]),
);

export const poolEvents: readonly PoolEventDecoder['event'][] = decoders.map(({ event }) => event);

export const STATE_EVENT_TOPICS: readonly Hash[] = decoders
  .filter(({ hasState }) => hasState === true)
  .map(({ event }) => event.topic);

/** False: none of the logs has an event that {@link decodePoolEvent} decodes. */
export function mayHavePoolEvents(logs: readonly Pick<EventLog, 'topics'>[]): boolean {
  return logs.some(({ topics: [topic0] }) => topic0 !== undefined && byTopic.has(topic0));
}

/** Pure, never throws on hostile input. Anyone can emit such events: only proven pools count. */
export function decodePoolEvent(log: EventLog, vaults: PoolVaults): PoolEvent | null {
  const [topic0] = log.topics;
  const decoder = topic0 === undefined ? undefined : byTopic.get(topic0);
  if (decoder === undefined) return null;
  if (decoder.isVault === true && !vaults.has(log.address)) return null;
  const event = decoder.decode(log);
  if (event === null || decoder.isVault !== true) return event;
  return { ...event, pool: poolInVault(event.pool, log.address, vaults) };
}
