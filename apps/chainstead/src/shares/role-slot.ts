import type { ConnectionRoom } from '@chainstead/db/server';
import {
  type Configuration,
  ROLE_NAMES,
  type RoleName,
  type RoleProcesses,
  roleList,
} from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';

export interface ProcessNumber {
  /** From 1. */
  readonly number: number;
  readonly of: number;
}

export const ONLY_PROCESS: ProcessNumber = { number: 1, of: 1 };

/** The supervisor keeps it filled with a process. */
export interface RoleSlot extends ProcessNumber {
  readonly role: RoleName;
}

const AUTO_MAX = 64;

/** Aptos alone needs no more `ingest` processes than networks. @param cores value of `auto` */
export function slotsOf(
  { chains, aptos }: Pick<Configuration, 'chains' | 'aptos'>,
  roles: readonly RoleProcesses[],
  cores: number,
): RoleSlot[] {
  const ingestMax = chains.length > 0 ? Number.POSITIVE_INFINITY : Math.max(1, aptos.networks.length);
  return roles.flatMap(({ role, processes }) => {
    const wanted = countOf(processes, cores);
    const of = role === 'ingest' ? Math.min(wanted, ingestMax) : wanted;
    return Array.from({ length: of }, (_, index) => ({ role, number: index + 1, of }));
  });
}

/** A role without a number of processes has that of `ROLES`. @throws UsageError */
export function selectRoles(text: string, configured: readonly RoleProcesses[]): readonly RoleProcesses[] {
  const roles = roleList.safeParse(text);
  if (roles.success)
    return roles.data.map((selected) => {
      const isCounted = text.toLowerCase().includes(`${selected.role}:`);
      return (isCounted ? null : configured.find(({ role }) => role === selected.role)) ?? selected;
    });
  throw new UsageError(`--roles ${text} is not valid`, `Use a comma list of ${ROLE_NAMES.join(', ')}`, {
    given: text,
  });
}

export function countOf(wanted: number | 'auto', cores: number): number {
  return wanted === 'auto' ? Math.min(cores, AUTO_MAX) : wanted;
}

/** `api`, or `api-2`. In logs, metrics and Postgres session names. */
export function slotName({ role, number, of }: RoleSlot): string {
  return of === 1 ? role : `${role}-${number}`;
}

export function processLabels(slot: RoleSlot): { readonly role: RoleName; readonly process?: string } {
  return { role: slot.role, ...(slot.of > 1 && { process: slotName(slot) }) };
}

export function renderRoles(slots: readonly RoleSlot[]): string {
  return slots
    .filter(({ number }) => number === 1)
    .map(({ role, of }) => (of === 1 ? role : `${role} (${of} processes)`))
    .join(', ');
}

/** Every `of`-th item. @param offset items of the lists before */
export function shareOf<Item>(items: readonly Item[], { number, of }: ProcessNumber, offset = 0): Item[] {
  return items.filter((_, index) => (offset + index) % of === number - 1);
}

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
