import { type Clock, errorText, type Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { renewLeases } from './claim-deliveries.ts';

export interface LeasesOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long what a dead process had in hand stays unsent. Milliseconds. */
  readonly leaseMs: number;
}

/** The webhooks that this process has in hand. Their leases in the outbox are renewed until they are let go. */
export interface Leases {
  /** The end of a lease that begins now. */
  end(): Date;
  hold(id: string, until: Date): void;
  letGo(id: string): void;
  /** False when its lease ran out, so that another process may have it: a stalled process, or a database that was away. */
  isHeld(id: string): boolean;
  renew(): Promise<void>;
}

export function createLeases(options: LeasesOptions): Leases {
  const { database, clock, logger, leaseMs } = options;
  const held = new Map<string, number>();
  const end = (): Date => new Date(clock.now() + leaseMs);
  return {
    end,
    hold: (id, until) => void held.set(id, until.getTime()),
    letGo: (id) => void held.delete(id),
    isHeld: (id) => (held.get(id) ?? 0) > clock.now(),
    async renew() {
      const ids = [...held.keys()];
      if (ids.length === 0) return;
      const until = end();
      try {
        const renewed = await renewLeases(database, ids, until);
        for (const id of renewed) if (held.has(id)) held.set(id, until.getTime());
      } catch (error) {
        logger.warn({ webhooks: ids.length, reason: errorText(error) }, 'Leases of webhooks could not be renewed');
      }
    },
  };
}
