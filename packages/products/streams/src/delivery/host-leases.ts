import { randomUUID } from 'node:crypto';
import { errorText, type Logger } from '@chainstead/core';
import { type Database, failureLevel, sql } from '@chainstead/db';

export interface HostLeasesOptions {
  readonly database: Database;
  readonly logger: Logger;
  readonly leaseMs: number;
}

/** The database guarantees one process per host, by its clock: queues get lost, clocks differ. */
export type HostLeases = ReturnType<typeof createHostLeases>;

export function createHostLeases(options: HostLeasesOptions) {
  const { database, logger, leaseMs } = options;
  const holder = randomUUID();
  const leaseEnd = sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;
  const heldUntil = new Map<string, number>();
  /** Local expiry from before the query, by a monotonic clock. */
  const end = (): number => performance.now() + leaseMs;

  return {
    /** @returns false while another process holds the lease */
    async take(host: string): Promise<boolean> {
      const until = end();
      const rows = await database.query(
        sql`INSERT INTO webhook_host_leases AS kept (host, holder, held_until) VALUES (${host}, ${holder}, ${leaseEnd})
         ON CONFLICT (host) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
         WHERE kept.holder = excluded.holder OR kept.held_until <= clock_timestamp()
         RETURNING 1`,
      );
      if (rows.length > 0) heldUntil.set(host, until);
      return rows.length > 0;
    },
    async heldByOthers(): Promise<ReadonlySet<string>> {
      const rows = await database.query<{ host: string }>(
        sql`SELECT host FROM webhook_host_leases WHERE holder <> ${holder} AND held_until > clock_timestamp()`,
      );
      return new Set(rows.map(({ host }) => host));
    },
    /** False: it expired (a stall, or no database), and another process may hold it. */
    isHeld: (host: string): boolean => (heldUntil.get(host) ?? 0) > performance.now(),
    async renew(): Promise<void> {
      const hosts = [...heldUntil.keys()];
      if (hosts.length === 0) return;
      const until = end();
      try {
        const renewed = await database.query<{ host: string }>(
          sql`UPDATE webhook_host_leases SET held_until = ${leaseEnd} WHERE host = ANY (${hosts}::text[]) AND holder = ${holder} RETURNING host`,
        );
        for (const { host } of renewed) if (heldUntil.has(host)) heldUntil.set(host, until);
      } catch (error) {
        logger[failureLevel(error)](
          { hosts: hosts.length, reason: errorText(error) },
          'Leases of hosts could not be renewed',
        );
      }
    },
    async letGo(host: string): Promise<void> {
      heldUntil.delete(host);
      try {
        await database.query(sql`DELETE FROM webhook_host_leases WHERE host = ${host} AND holder = ${holder}`);
      } catch (error) {
        logger.debug({ host, reason: errorText(error) }, 'Lease of a host could not be ended, it will run out');
      }
    },
  };
}
