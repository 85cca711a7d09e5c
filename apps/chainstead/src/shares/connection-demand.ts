import type { ConnectionRoom } from '@chainstead/db';
import type { Configuration, RoleName } from '../configuration/index.ts';
import type { RoleSlot } from './role-slot.ts';

type ConnectionFacts = Pick<Configuration, 'redisUrl' | 'chains' | 'aptos' | 'onDemand'> & {
  readonly database: Pick<Configuration['database'], 'poolSize'>;
  readonly api: Pick<Configuration['api'], 'hasAgentSql' | 'hasGraphql'>;
};

const STARTER = 2;
const SCHEDULES = 3;
const LISTENERS = 2;
const CLAIMS_OF_HELPER = 1;
/** For notifications, and for the claims of one. */
const RANGE_JOBS = 2;
const AGENT_STATEMENTS = 4;
const GRAPHQL_OPERATIONS = 4;
const HISTORIES = 3;

/** At once on this machine, as docs/operate/postgres.md lists them. */
export function connectionsNeeded(facts: ConnectionFacts, slots: readonly RoleSlot[]): number {
  const { redisUrl, chains, aptos, onDemand, database, api } = facts;
  const queue = (connections: number): number => (redisUrl === null ? connections : 0);
  const ofChains = 2 * chains.length + aptos.networks.length;
  const besidePool: Readonly<Record<RoleName, (slot: RoleSlot) => number>> = {
    api: () => (api.hasAgentSql ? AGENT_STATEMENTS : 0) + (api.hasGraphql ? GRAPHQL_OPERATIONS : 0),
    ingest: ({ number, of }) =>
      (number === 1 ? ofChains : 0) + (of > 1 && chains.length > 0 ? CLAIMS_OF_HELPER : 0) + RANGE_JOBS,
    worker: () => queue(SCHEDULES) + LISTENERS + chains.length * (onDemand.maxCalls > 0 ? HISTORIES : 0),
  };
  return slots.reduce((sum, slot) => sum + database.poolSize + besidePool[slot.role](slot), STARTER);
}

/** At once per API: its pool, and one that reads the replay position. */
export function connectionsToStandby({ database }: Pick<ConnectionFacts, 'database'>): number {
  return database.poolSize + 1;
}

const SETTING_OF: Readonly<Record<RoleName, string>> = {
  api: 'API_PROCESSES',
  ingest: 'INGEST_PROCESSES',
  worker: 'WORKER_PROCESSES',
};

export function settingsToLower(slots: readonly RoleSlot[]): string[] {
  const several = new Set(slots.filter(({ of }) => of > 1).map(({ role }) => SETTING_OF[role]));
  return ['DATABASE_POOL_SIZE', ...several];
}

export function connectionShortage(
  needed: number,
  { max, reserved, usedByOthers }: ConnectionRoom,
  lower: readonly string[],
): { readonly facts: Readonly<Record<string, number>>; readonly message: string } | null {
  const left = Math.max(0, max - reserved - usedByOthers);
  if (needed <= left) return null;
  return {
    facts: { connections_needed: needed, connections_left: left, max_connections: max, used_by_others: usedByOthers },
    message: `These roles may open ${needed} connections to Postgres, which has ${left} left of ${max}. Raise max_connections, or lower ${lower.join(' or ')}`,
  };
}
