import type { ConnectionRoom } from '@chainstead/db';
import type { Configuration, RoleName } from './configuration/index.ts';

/** What decides how many connections to Postgres the roles may open. */
type ConnectionFacts = Pick<Configuration, 'redisUrl' | 'chains' | 'aptos' | 'onDemand'> & {
  readonly database: Pick<Configuration['database'], 'poolSize'>;
};

/** Of the process that starts the roles. */
const STARTER = 2;
/** Its pool and the connection that listens. */
const QUEUE_OF_API = 3;
const QUEUE_OF_WORKER = 11;
/** Histories that a worker reads at once, by chain. */
const HISTORIES = 3;

/** Connections that these roles on this machine may have open at once, as docs/operating.md lists them. */
export function connectionsNeeded(facts: ConnectionFacts, roles: readonly RoleName[]): number {
  const { redisUrl, chains, aptos, onDemand, database } = facts;
  const queue = (connections: number): number => (redisUrl === null ? connections : 0);
  const byRole: Readonly<Record<RoleName, number>> = {
    api: queue(QUEUE_OF_API),
    ingest: 2 * chains.length + aptos.networks.length,
    worker: queue(QUEUE_OF_WORKER) + 1 + chains.length * (1 + (onDemand.maxCalls > 0 ? HISTORIES : 0)),
  };
  return roles.reduce((sum, role) => sum + database.poolSize + byRole[role], STARTER);
}

/** Connections that an API may have open at once to a standby of DATABASE_READ_URL: its pool, and the one that looks how far it has replayed. */
export function connectionsToStandby({ database }: Pick<ConnectionFacts, 'database'>): number {
  return database.poolSize + 1;
}

/** What the operator has to be warned of, or null where the server has enough. */
export function connectionShortage(
  needed: number,
  { max, reserved, usedByOthers }: ConnectionRoom,
): { readonly facts: Readonly<Record<string, number>>; readonly message: string } | null {
  const left = Math.max(0, max - reserved - usedByOthers);
  if (needed <= left) return null;
  return {
    facts: { connections_needed: needed, connections_left: left, max_connections: max, used_by_others: usedByOthers },
    message: `These roles may open ${needed} connections to Postgres, which has ${left} left of ${max}: raise its max_connections, or lower DATABASE_POOL_SIZE`,
  };
}
