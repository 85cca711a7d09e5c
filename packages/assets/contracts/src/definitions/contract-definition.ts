import {
  type Address,
  type ChainId,
  ChainsteadError,
  type Hash,
  parseAddress,
  parseChainId,
  parseHash,
} from '@chainstead/core';
import { type Database, sql, type Transaction, transactionLock } from '@chainstead/db';
import { readAbiItem } from '@chainstead/events/decoding';
import { z } from 'zod';
import { callItem, type EventTable, eventItem, eventTable, type TableItem } from '../tables/event-table.ts';

export interface ContractDefinition {
  readonly name: string;
  readonly chainId: ChainId;
  readonly addresses: readonly Address[];
  /** Null: the first one of the chain's history. */
  readonly firstBlock: number | null;
  readonly tables: readonly EventTable[];
  readonly factory: Factory | null;
  readonly upgrades: Upgrades | null;
  /** Nothing more is stored; null: the contract is indexed. */
  readonly suspendedReason: string | null;
  readonly createdAt: Date;
}

export interface Factory {
  readonly event: string;
  readonly child: string;
  /** Its children are the factories; null: the addresses are. */
  readonly of: string | null;
  readonly firstBlock: number;
  readonly childFrom: ChildFrom;
}

/** Transaction or block of the log that names a child, or the log itself. */
export type ChildFrom = z.infer<typeof childFrom>;

/** The first one is the default. */
export const childFrom = z.enum(['transaction', 'block', 'log']);

export interface Upgrades {
  readonly event: string;
  readonly column: string;
  readonly firstBlock: number;
}

export class ContractRefusedError extends ChainsteadError {
  constructor(code: ContractRefusal, message: string, remedy: string) {
    super({ code, message, remedy, retryable: false });
  }
}

type ContractRefusal =
  | 'CONTRACT_CALLS_UNAVAILABLE'
  | 'CONTRACT_CHILD_INVALID'
  | 'CONTRACT_EVENT_ANONYMOUS'
  | 'CONTRACT_EVENT_CHANGED'
  | 'CONTRACT_EVENTS_AMBIGUOUS'
  | 'CONTRACT_FACTORY_DIFFERENT'
  | 'CONTRACT_FACTORY_EVENT_INVALID'
  | 'CONTRACT_FACTORY_UNKNOWN'
  | 'CONTRACT_IN_USE'
  | 'CONTRACT_ABI_MISSING'
  | 'CONTRACT_ADDRESSES_TOO_MANY'
  | 'CONTRACT_COLUMN_UNBOUNDED'
  | 'CONTRACT_COLUMN_UNKNOWN'
  | 'CONTRACT_EVENT_UNKNOWN'
  | 'CONTRACT_EVENTS_MISSING'
  | 'CONTRACT_EVENTS_TOO_MANY'
  | 'CONTRACT_FUNCTIONS_MISSING'
  | 'CONTRACT_IMPLEMENTATION_INVALID'
  | 'CONTRACT_NAME_INVALID'
  | 'CONTRACT_TABLE_HELD'
  | 'CONTRACT_TABLE_TAKEN'
  | 'CONTRACT_UNKNOWN';

export async function readDefinitions(
  database: Pick<Database, 'query'>,
  name: string | null = null,
): Promise<readonly ContractDefinition[]> {
  type Columns = Pick<ContractDefinition, 'name' | 'firstBlock' | 'suspendedReason' | 'createdAt'>;
  const rows = await database.query<Columns & { chainId: number; addresses: string[] } & StoredJson>(
    sql`SELECT name, chain_id, addresses, first_block, events, factory, upgrades,
          suspended_reason, created_at FROM contract_definitions
      WHERE ${name}::text IS NULL OR name = ${name} ORDER BY name, chain_id`,
  );
  return rows.map(({ events, ...row }) => ({
    ...row,
    chainId: parseChainId(row.chainId),
    addresses: row.addresses.map((address) => parseAddress(address)),
    tables: storedEvents
      .parse(events)
      .map(({ event, item, ...more }) => eventTable(row.name, event, { ...storedEvent(item), ...more })),
    factory: storedFactory.nullable().parse(row.factory),
    upgrades: storedUpgrades.nullable().parse(row.upgrades),
  }));
}

type StoredJson = Record<'events' | 'factory' | 'upgrades', unknown>;

/** Names are unique over all chains. Taken after the commit lock. */
export async function lockContracts(transaction: Transaction): Promise<void> {
  await transactionLock(transaction, 'contracts');
}

export async function readRevision(database: Pick<Database, 'query'>): Promise<string> {
  const [row] = await database.query<{ revision: string }>(REVISION);
  return row?.revision ?? '';
}

export const REVISION = sql`SELECT coalesce(string_agg(revision::text, ' ' ORDER BY name, chain_id), '') AS revision FROM contract_definitions`;

const storedFactory = z.object({
  ...{ event: z.string(), child: z.string(), of: z.string().nullable() },
  firstBlock: z.number(),
  childFrom: childFrom.default('transaction'),
});

const storedUpgrades = z.object({ event: z.string(), column: z.string(), firstBlock: z.number() });

const storedEvents = z.array(
  z.object({
    event: z.string(),
    item: z.unknown(),
    otherTopics: z.array(z.string().transform((topic): Hash => parseHash(topic))).default([]),
    since: z.object({ block: z.number(), log: z.number() }).nullable().default(null),
    implementations: z.array(z.string().transform((address): Address => parseAddress(address))).default([]),
  }),
);

export function storedEvent(item: unknown): TableItem {
  const read = readAbiItem(item, { anonymousEvents: true });
  if (read === null || typeof read === 'string') throw new RangeError('A stored event is no item of an ABI');
  return read.kind === 'event' ? eventItem(read.entry) : callItem(read.entry);
}
