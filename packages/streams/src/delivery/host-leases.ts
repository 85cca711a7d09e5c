import { randomUUID } from 'node:crypto';
import { errorText, type Logger } from '@chainstead/core';
import { type Database, failureLevel } from '@chainstead/db';

export interface HostLeasesOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** How long the hosts of a dead process get nothing. Milliseconds. */
  readonly leaseMs: number;
}

/**
 * The receiving hosts that this process sends to: one process for each host, by the database's word, as a queue may be lost and
 * filled again. Kept by renewing it; whoever dies loses it when it runs out. When that is, Postgres' clock says: machines whose
 * clocks differ would take hosts from each other.
 */
export interface HostLeases {
  /** @returns false while another process has it. */
  take(host: string): Promise<boolean>;
  /** Hosts that other processes send to. */
  heldByOthers(): Promise<ReadonlySet<string>>;
  /** False when its lease ran out, so that another process may have it: a stalled process, or a database that was away. */
  isHeld(host: string): boolean;
  renew(): Promise<void>;
  letGo(host: string): Promise<void>;
}

const LEASE_END = "clock_timestamp() + $3 * interval '1 millisecond'";

export function createHostLeases(options: HostLeasesOptions): HostLeases {
  const { database, logger, leaseMs } = options;
  const holder = randomUUID();
  const heldUntil = new Map<string, number>();
  /** As this process sees it, from before it asked, by a clock that nobody sets. */
  const end = (): number => performance.now() + leaseMs;

  return {
    async take(host) {
      const until = end();
      const rows = await database.query(
        `INSERT INTO webhook_host_leases AS kept (host, holder, held_until) VALUES ($1, $2, ${LEASE_END})
         ON CONFLICT (host) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
         WHERE kept.holder = excluded.holder OR kept.held_until <= clock_timestamp()
         RETURNING 1`,
        [host, holder, leaseMs],
      );
      if (rows.length > 0) heldUntil.set(host, until);
      return rows.length > 0;
    },
    async heldByOthers() {
      const rows = await database.query<{ host: string }>(
        'SELECT host FROM webhook_host_leases WHERE holder <> $1 AND held_until > clock_timestamp()',
        [holder],
      );
      return new Set(rows.map(({ host }) => host));
    },
    isHeld: (host) => (heldUntil.get(host) ?? 0) > performance.now(),
    async renew() {
      const hosts = [...heldUntil.keys()];
      if (hosts.length === 0) return;
      const until = end();
      try {
        const renewed = await database.query<{ host: string }>(
          `UPDATE webhook_host_leases SET held_until = ${LEASE_END} WHERE host = ANY ($1::text[]) AND holder = $2 RETURNING host`,
          [hosts, holder, leaseMs],
        );
        for (const { host } of renewed) if (heldUntil.has(host)) heldUntil.set(host, until);
      } catch (error) {
        logger[failureLevel(error)](
          { hosts: hosts.length, reason: errorText(error) },
          'Leases of hosts could not be renewed',
        );
      }
    },
    async letGo(host) {
      heldUntil.delete(host);
      try {
        await database.query('DELETE FROM webhook_host_leases WHERE host = $1 AND holder = $2', [host, holder]);
      } catch (error) {
        logger.debug({ host, reason: errorText(error) }, 'Lease of a host could not be ended, it will run out');
      }
    },
  };
}
