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
