import type { EventLayout, EventLog } from './event-layout.ts';
import type { PoolEvent } from './pool-event.ts';

/** Decodes one event of pools. Families of exchanges share events: only the pool's factory identifies its family. */
export interface PoolEventDecoder {
  readonly event: EventLayout;
  /**
   * True if the emitter is a contract with many pools. Forks emit the same events for pools of the same id, so only logs of known
   * contracts are decoded.
   */
  readonly isVault?: boolean;
  /** True if its events have a state of the pool. */
  readonly hasState?: boolean;
  /** The event of a log with this layout; null if a value is outside its type. */
  decode(log: EventLog): PoolEvent | null;
}
