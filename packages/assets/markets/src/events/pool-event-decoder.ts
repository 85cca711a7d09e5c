import type { Address, Log } from '@chainstead/core';
import type { DefinedEvent } from '@chainstead/events/decoding';
import type { PoolEvent } from './pool-event.ts';

export type EventLog = Pick<Log, 'address' | 'topics' | 'data'>;

/** Families share events: only the factory identifies the family of a pool. */
export interface PoolEventDecoder extends PoolEventKind {
  readonly event: Pick<DefinedEvent, 'abi' | 'topic'>;
  /** Null for another event, or values outside their types. */
  decode(log: EventLog): PoolEvent | null;
}

export interface PoolEventKind {
  /** Forks emit equal events for pools of equal ids: only logs of known contracts count. */
  readonly isVault?: boolean;
  readonly hasState?: boolean;
}

/** @param toEvent gets the emitter, which is the pool unless a vault holds it */
export function poolEvent<Values>(
  event: DefinedEvent<Values>,
  kind: PoolEventKind,
  toEvent: (values: Values, emitter: Address) => PoolEvent | null,
): PoolEventDecoder {
  return {
    event,
    ...kind,
    decode(log) {
      const values = event.read(log);
      return values === null ? null : toEvent(values, log.address);
    },
  };
}
