import type { EventLayout, EventLog } from './event-layout.ts';
import type { PoolEvent } from './pool-event.ts';

/** Families of exchanges share events: only the pool's factory identifies its family. */
export interface PoolEventDecoder {
  readonly event: EventLayout;
  /** Forks emit the same events for pools of the same id, so only logs of known contracts count. */
  readonly isVault?: boolean;
  readonly hasState?: boolean;
  decode(log: EventLog): PoolEvent | null;
}
