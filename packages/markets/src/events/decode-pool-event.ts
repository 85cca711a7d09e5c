import type { Hash } from '@chainstead/core';
import { binEvents } from './bin-events.ts';
import { concentratedEvents } from './concentrated-events.ts';
import { type EventLayout, type EventLog, hasLayout } from './event-layout.ts';
import { managerEvents } from './manager-events.ts';
import { namedTokenEvents } from './named-token-events.ts';
import type { PoolEvent } from './pool-event.ts';
import type { PoolEventDecoder } from './pool-event-decoder.ts';
import { type PoolVaults, poolInVault } from './pool-vaults.ts';
import { reserveEvents } from './reserve-events.ts';

/** All events of pools. A new event is an entry of one of these lists. */
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

/** Topic0, topics and words of every event that {@link decodePoolEvent} knows. */
export const poolEventLayouts: readonly EventLayout[] = decoders.map(({ event }) => event);

/** topic0 of every event that {@link decodePoolEvent} knows. */
export const POOL_EVENT_TOPICS: readonly Hash[] = poolEventLayouts.map(({ topic }) => topic);

/** topic0 of every event with a state of the pool. */
export const STATE_EVENT_TOPICS: readonly Hash[] = decoders
  .filter(({ hasState }) => hasState === true)
  .map(({ event }) => event.topic);

/**
 * Swap, liquidity change or state that a log declares; null for any other log. Pure, and never throws on hostile input. Any contract can
 * emit a perfect event: it counts only if the pool is proven to belong to an exchange.
 * @param vaults contracts of the chain that hold many pools; events of that kind from other contracts are null
 */
export function decodePoolEvent(log: EventLog, vaults: PoolVaults): PoolEvent | null {
  const [topic0] = log.topics;
  const decoder = topic0 === undefined ? undefined : byTopic.get(topic0);
  if (decoder === undefined || !hasLayout(decoder.event, log)) return null;
  if (decoder.isVault === true && !vaults.has(log.address)) return null;
  const event = decoder.decode(log);
  if (event === null || decoder.isVault !== true) return event;
  return { ...event, pool: poolInVault(event.pool, log.address, vaults) };
}
