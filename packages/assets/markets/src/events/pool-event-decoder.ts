import type { EventLayout, EventLog } from './event-layout.ts';
import type { PoolEvent } from './pool-event.ts';

/** Families share events: only the factory identifies the family of a pool. */
export interface PoolEventDecoder {
  readonly event: EventLayout;
  /** Forks emit equal events for pools of equal ids: only logs of known contracts count. */
  readonly isVault?: boolean;
  readonly hasState?: boolean;
  decode(log: EventLog): PoolEvent | null;
}
