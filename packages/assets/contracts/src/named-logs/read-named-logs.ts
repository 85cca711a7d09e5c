import type { Chain } from '@chainstead/chains';
import type { Address, ChainId, Hash, Log } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { abiItemJson } from '@chainstead/events/decoding';
import { type AcceptsLog, acceptedLogs } from '../dataset/accepted-logs.ts';
import { type ChildSet, emittersOf, isFormOfImplementation, upgradesOf } from '../definitions/child-sets.ts';
import { type ContractDefinition, readDefinitions, readRevision } from '../definitions/contract-definition.ts';
import {
  ChildrenUnknownError,
  type Creation,
  isAfter,
  isComplete,
  readCreations,
} from '../factories/child-rows.ts';
import type { EventTable } from '../tables/event-table.ts';
import { formAt, formsOf, indexedCount, isNamedEvent, type Upgrade } from '../tables/form-at-log.ts';
import {
  type ImplementationForms,
  ImplementationsUnknownError,
  lastBefore,
  readUpgrades,
} from '../upgrades/form-rows.ts';

interface NamedLog {
  readonly name: string;
  /** Null: another contract's event fits the log's number of topics, and this one does not. */
  readonly item: NamedEventItem | null;
}

interface NamedEventItem {
  readonly type: string;
  readonly name: string;
  readonly inputs: readonly {
    readonly name: string;
    readonly type: string;
    readonly indexed?: boolean;
    readonly components?: unknown;
  }[];
}

interface NamedLogsRequest {
  readonly chain: Chain;
  readonly names: Iterable<string>;
  readonly logs: readonly Log[];
  /** Lowest block. Without all upgrades before it, events that depend on them have no logs. */
  readonly from: number;
  /** Up to which rows must be complete. Null: unknown children have no logs. */
  readonly completeTo: number | null;
}

type NamedLogs = ReadonlyMap<Log, readonly NamedLog[]>;

/** @throws a retryable error if factory events or upgrades are missing up to `completeTo` */
export async function readNamedLogs(
  database: Pick<Database, 'query'>,
  definitions: readonly ContractDefinition[],
  { chain, names, logs, from, completeTo }: NamedLogsRequest,
): Promise<NamedLogs> {
  const events = [...new Set(names)].flatMap((name) => eventsOf(chain, definitions, name));
  const byTopic = Map.groupBy(events, ({ topic0 }) => topic0);
  const candidates = logs.flatMap((log) => {
    const [topic0] = log.topics;
    const mayEmit = ({ children, addresses, firstBlock, accepts }: NamedEvent): boolean =>
      log.blockNumber >= firstBlock && (children !== null || addresses.has(log.address)) && accepts(log);
    const own = topic0 === undefined ? [] : (byTopic.get(topic0) ?? []).filter(mayEmit);
    return own.length === 0 ? [] : [{ log, own }];
  });
  const created = await readChildren(database, chain, events, candidates, completeTo);
  const hasForm = await readForms(database, chain, candidates, { from, completeTo });
  return new Map(
    candidates.flatMap(({ log, own }) => {
      const found = own.filter((event) => {
        const { children } = event;
        if (children === null) return hasForm(event, log);
        const creation = created.get(children.table)?.get(log.address);
        return creation !== undefined && isAfter(creation, log.blockNumber, log.logIndex);
      });
      return found.length === 0 ? [] : [[log, namesOf(log, found)] as const];
    }),
  );
}

function namesOf({ topics }: Log, events: readonly NamedEvent[]): readonly NamedLog[] {
  const fits = ({ topicCount }: NamedEvent): boolean => topicCount === topics.length;
  const isKnown = events.some(fits);
  return events.map((event) => ({ name: event.name, item: isKnown && !fits(event) ? null : event.item() }));
}

interface NamedEvent {
  readonly name: string;
  readonly topic0: Hash;
  readonly topicCount: number;
  readonly addresses: ReadonlySet<Address>;
  readonly accepts: AcceptsLog;
  readonly children: ChildSet | null;
  readonly byImplementation: ImplementationForms | null;
  readonly table: string;
  readonly firstBlock: number;
  item(): NamedEventItem;
}

function eventsOf(chain: Chain, definitions: readonly ContractDefinition[], name: string): readonly NamedEvent[] {
  return definitions.flatMap((definition) => {
    if (definition.chainId !== chain.id || !isStored(definition, definitions)) return [];
    const { factory, firstBlock } = definition;
    const addresses = new Set(definition.addresses);
    const upgrades = upgradesOf(definition);
    const formsFor = (table: EventTable): ImplementationForms | null =>
      upgrades !== null && isFormOfImplementation(definition, table)
        ? { upgrades, forms: formsOf(table, definition.tables) }
        : null;
    return namedTables(definition, name).map((table) => ({
      ...{ name, addresses, topic0: table.abi.topic0, accepts: acceptedLogs(table, definition.tables) },
      topicCount: 1 + indexedCount(table),
      children: emittersOf(definition, table, definitions),
      ...{ table: table.name, byImplementation: formsFor(table) },
      firstBlock: (table.event === factory?.event ? factory.firstBlock : firstBlock) ?? 0,
      item: itemOnce(table),
    }));
  });
}

function itemOnce({ abi }: EventTable): NamedEvent['item'] {
  let item: NamedEventItem | undefined;
  return () => {
    item ??= JSON.parse(abiItemJson({ kind: 'event', entry: abi })) as NamedEventItem;
    return item;
  };
}

interface Candidate {
  readonly log: Log;
  readonly own: readonly NamedEvent[];
}

type HasForm = (event: NamedEvent, log: Log) => boolean;

async function readForms(
  database: Pick<Database, 'query'>,
  chain: Chain,
  candidates: readonly Candidate[],
  { from, completeTo }: Pick<NamedLogsRequest, 'from' | 'completeTo'>,
): Promise<HasForm> {
  const known = new Map<string, ReadonlyMap<Address, readonly Upgrade[]> | null>();
  for (const { byImplementation, table } of candidates.flatMap(({ own }) => own)) {
    if (byImplementation === null || known.has(table)) continue;
    const { upgrades } = byImplementation;
    const areComplete = await isComplete(database, chain.id, upgrades, completeTo ?? from - 1);
    if (!areComplete && completeTo !== null) throw new ImplementationsUnknownError(upgrades, chain);
    const logs = candidates.flatMap(({ log, own }) => (own.some((event) => event.table === table) ? [log] : []));
    const emitters = new Set(logs.map(({ address }) => address));
    const to = Math.max(...logs.map(({ blockNumber }) => blockNumber));
    known.set(
      table,
      areComplete ? await readUpgrades(database, chain, byImplementation, { emitters, to }) : null,
    );
  }
  return ({ byImplementation, table }, { address, blockNumber: block, logIndex: log }) => {
    if (byImplementation === null) return true;
    const upgrades = known.get(table) ?? null;
    if (upgrades === null) return false;
    const last = lastBefore(upgrades.get(address), { block, log });
    return formAt(byImplementation.forms, { block, log }, last)?.name === table;
  };
}

async function readChildren(
  database: Pick<Database, 'query'>,
  chain: Chain,
  events: readonly NamedEvent[],
  candidates: readonly Candidate[],
  completeTo: number | null,
): Promise<ReadonlyMap<string, ReadonlyMap<Address, Creation>>> {
  const sets = new Map(
    events.flatMap(({ children }) => (children === null ? [] : [[children.table, children] as const])),
  );
  const created = new Map<string, ReadonlyMap<Address, Creation>>();
  for (const [table, children] of sets) {
    if (completeTo !== null && !(await isComplete(database, chain.id, children, completeTo)))
      throw new ChildrenUnknownError(children, chain);
    const emitters = candidates.flatMap(({ log, own }) =>
      own.some((event) => event.children?.table === table) ? [log.address] : [],
    );
    if (emitters.length > 0)
      created.set(table, await readCreations(database, chain, children, new Set(emitters)));
  }
  return created;
}

export type NameState =
  | { readonly kind: 'indexed' | 'suspended' | 'unknown-contract' }
  | { readonly kind: 'other-chain'; readonly contract: string; readonly chainIds: readonly ChainId[] }
  | { readonly kind: 'unknown-event'; readonly contract: string; readonly events: readonly string[] };

function namedTables({ name, tables }: ContractDefinition, text: string): readonly EventTable[] {
  const { contract, event } = partsOf(text);
  if (contract !== name) return [];
  const events = tables.filter(isNamedEvent);
  return event === null ? events : events.filter((table) => table.event === event || table.abi.name === event);
}

function isStored(definition: ContractDefinition, definitions: readonly ContractDefinition[]): boolean {
  if (definition.suspendedReason !== null) return false;
  const { factory, chainId } = definition;
  const parent = definitions.find((one) => one.name === factory?.of && one.chainId === chainId);
  return parent === undefined || isStored(parent, definitions);
}

export function stateOfName(
  definitions: readonly ContractDefinition[],
  text: string,
  chainIds: readonly ChainId[],
): NameState {
  const { contract } = partsOf(text);
  const known = definitions.filter(({ name }) => name === contract);
  if (known.length === 0) return { kind: 'unknown-contract' };
  const own = known.filter(({ chainId }) => chainIds.includes(chainId));
  if (own.length === 0) return { kind: 'other-chain', contract, chainIds: known.map(({ chainId }) => chainId) };
  const named = own.filter((definition) => namedTables(definition, text).length > 0);
  if (named.length === 0) {
    const events = own.flatMap(({ tables }) => tables.filter(isNamedEvent).map(({ abi }) => abi.name));
    return { kind: 'unknown-event', contract, events: [...new Set(events)] };
  }
  return { kind: named.some((definition) => isStored(definition, definitions)) ? 'indexed' : 'suspended' };
}

function partsOf(text: string): { readonly contract: string; readonly event: string | null } {
  const dot = text.indexOf('.');
  return dot < 0 ? { contract: text, event: null } : { contract: text.slice(0, dot), event: text.slice(dot + 1) };
}

export type DefinitionReader = (database: Pick<Database, 'query'>) => Promise<readonly ContractDefinition[]>;

export function createDefinitionReader(): DefinitionReader {
  let known: { readonly revision: string; readonly definitions: readonly ContractDefinition[] } | null = null;
  return async (database) => {
    const revision = await readRevision(database);
    if (known?.revision === revision) return known.definitions;
    const definitions = await readDefinitions(database);
    known = { revision, definitions };
    return definitions;
  };
}
