import type { ConnectionRoom } from '@chainstead/db/server';
import type { Configuration, RoleName } from '../configuration/index.ts';
import type { ProcessNumber, RoleSlot } from './role-slot.ts';

type ConnectionFacts = Pick<Configuration, 'redisUrl' | 'chains' | 'aptos' | 'onDemand'> & {
  readonly api: Pick<Configuration['api'], 'hasAgentSql' | 'hasGraphql'>;
};

const STARTER = 2;
const SCHEDULES = 3;
const LISTENERS = 2;
const CLAIMS_OF_HELPER = 1;
/** For notifications, and for the claims of one. */
const RANGE_JOBS = 2;
const AGENT_STATEMENTS = 4;
const GRAPHQL_OPERATIONS = 5;
const HISTORIES = 3;
const POOL_MIN = 4;
const POOL_MAX = 10;
/** Postgres works best with about as many busy connections as cores. */
const POOLED_PER_ROLE = 40;

export function poolSizeOf({ of }: ProcessNumber): number {
  return Math.min(POOL_MAX, Math.max(POOL_MIN, Math.ceil(POOLED_PER_ROLE / of)));
}

/** At once on this machine, as docs/operate/postgres.md lists them. */
export function connectionsNeeded(facts: ConnectionFacts, slots: readonly RoleSlot[]): number {
  const { redisUrl, chains, aptos, onDemand, api } = facts;
  const queue = (connections: number): number => (redisUrl === null ? connections : 0);
  const ofChains = 2 * chains.length + aptos.networks.length;
  const besidePool: Readonly<Record<RoleName, (slot: RoleSlot) => number>> = {
    api: () => (api.hasAgentSql ? AGENT_STATEMENTS : 0) + (api.hasGraphql ? GRAPHQL_OPERATIONS : 0),
    ingest: ({ number, of }) =>
      (number === 1 ? ofChains : 0) + (of > 1 && chains.length > 0 ? CLAIMS_OF_HELPER : 0) + RANGE_JOBS,
    worker: () => queue(SCHEDULES) + LISTENERS + chains.length * (onDemand.maxCalls > 0 ? HISTORIES : 0),
  };
  return slots.reduce((sum, slot) => sum + poolSizeOf(slot) + besidePool[slot.role](slot), STARTER);
}

/** All API processes: the pool of each, and one that reads the replay position. */
export function connectionsToStandby(place: ProcessNumber): number {
  return place.of * (poolSizeOf(place) + 1);
}

export function connectionShortage(
  needed: number,
  { max, reserved, usedByOthers }: ConnectionRoom,
): { readonly facts: Readonly<Record<string, number>>; readonly message: string } | null {
  const left = Math.max(0, max - reserved - usedByOthers);
  if (needed <= left) return null;
  return {
    facts: {
      connections_needed: needed,
      connections_left: left,
      max_connections: max,
      used_by_others: usedByOthers,
    },
    message: `These roles may open ${needed} connections to Postgres, which has ${left} left of ${max}. Raise max_connections, or run fewer processes (ROLES)`,
  };
}
