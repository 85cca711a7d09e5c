import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database, Transaction } from '@chainstead/db';
import { type AbiEvent, abiItemJson, readAbi } from '@chainstead/decoding';
import { type AuditActor, recordAudit, START_ACTOR } from '@chainstead/http';
import { lockChainCommits } from '@chainstead/sync';
import { createEventTables } from '../tables/create-tables.ts';
import { type EventTable, eventNames, eventTable, type ParameterColumn } from '../tables/event-table.ts';
import { type ContractDefinition, ContractRefusedError, readDefinitions } from './contract-definition.ts';

/** A contract to be indexed. */
export interface WantedContract {
  /** `vault` */
  readonly name: string;
  readonly chain: Chain;
  readonly addresses: readonly Address[];
  /** Parsed JSON: an ABI, or an artifact that contains one. Not checked yet. */
  readonly abi: unknown;
  /** First wanted block; null: the first one of the chain's history. */
  readonly firstBlock: number | null;
  /** Names or signatures of the wanted events; null: all. */
  readonly events: readonly string[] | null;
  /** Parameters that get an index. */
  readonly indexed: readonly string[];
}

/** What `addContract` stored. */
export interface AddedContract {
  readonly tables: readonly EventTable[];
  /** Number of skipped items of the ABI, by reason. */
  readonly skipped: ReadonlyMap<string, number>;
}

const NAME = /^[a-z][a-z0-9_]{0,23}$/;
const EVENTS_MAX = 256;
const ADDRESSES_MAX = 1_000;

/**
 * Stores a contract and creates a table for each event of its ABI, in one transaction. If the name is known on the chain, its addresses and
 * events are added to the known ones. With new addresses, its history is read again.
 * @param by for the audit log
 * @throws ContractRefusedError
 */
export async function addContract(
  database: Database,
  wanted: WantedContract,
  by: AuditActor = START_ACTOR,
): Promise<AddedContract> {
  const { name, chain, addresses, indexed } = wanted;
  if (!NAME.test(name))
    throw new ContractRefusedError(
      'CONTRACT_NAME_INVALID',
      `${JSON.stringify(name)} is not a name for a contract`,
      'Use 1 to 24 lower-case letters, digits and underscores, with a letter in front',
    );
  const { events, skipped } = eventsOf(wanted);
  return database.transaction(async (transaction) => {
    // Commits that decoded with the old definitions come before, or are refused.
    await lockChainCommits(transaction, chain);
    const known = await readDefinitions(transaction, name);
    const own = known.find(({ chainId }) => chainId === chain.id);
    const all = [...new Set([...(own?.addresses ?? []), ...addresses])];
    if (all.length > ADDRESSES_MAX)
      throw new ContractRefusedError(
        'CONTRACT_ADDRESSES_TOO_MANY',
        `${name} has ${all.length} addresses`,
        `Use at most ${ADDRESSES_MAX} for a name`,
      );
    const tables = joinTables(own, tablesOf(name, known, events));
    requireParameters(tables, indexed);
    await createEventTables(transaction, tables, indexed);
    const firstBlock = own === undefined ? wanted.firstBlock : lowerFirst(own.firstBlock, wanted.firstBlock);
    await save(transaction, { name, chainId: chain.id, addresses: all, firstBlock, tables });
    // Stored rows lack logs of new addresses.
    if (own !== undefined && all.length > own.addresses.length)
      await transaction.query('DELETE FROM sync_ranges WHERE chain_id = $1 AND dataset = ANY ($2::text[])', [
        chain.id,
        tables.map((table) => table.name),
      ]);
    await recordAudit(transaction, by, {
      action: 'contract.add',
      target: name,
      details: { chain: chain.key, addresses, events: tables.map(({ event }) => event) },
    });
    return { tables, skipped };
  });
}

/** Returns the wanted events of the ABI. */
function eventsOf({ name, abi, events: wanted }: WantedContract): {
  readonly events: readonly AbiEvent[];
  readonly skipped: AddedContract['skipped'];
} {
  const read = readAbi(abi);
  if (read === null)
    throw new ContractRefusedError(
      'CONTRACT_ABI_MISSING',
      `The file for ${name} contains no ABI`,
      'Give a JSON file with a list of ABI items, or an artifact of Foundry, Hardhat or Truffle',
    );
  const all = read.entries.flatMap((one) => (one.kind === 'event' ? [one.entry] : []));
  const isWanted = ({ name: event, signature }: AbiEvent, given: string) => given === event || given === signature;
  const missing = wanted?.find((given) => !all.some((event) => isWanted(event, given)));
  if (missing !== undefined)
    throw new ContractRefusedError(
      'CONTRACT_EVENT_UNKNOWN',
      `The ABI of ${name} has no event ${missing}`,
      `It has ${all.map(({ signature }) => signature).join(', ') || 'no events'}`,
    );
  const events = wanted === null ? all : all.filter((event) => wanted.some((given) => isWanted(event, given)));
  if (events.length === 0)
    throw new ContractRefusedError(
      'CONTRACT_EVENTS_MISSING',
      `The ABI of ${name} has no events`,
      `Skipped items: ${skippedText(read.skipped)}`,
    );
  if (events.length > EVENTS_MAX)
    throw new ContractRefusedError(
      'CONTRACT_EVENTS_TOO_MANY',
      `The ABI of ${name} has ${events.length} events`,
      `Choose at most ${EVENTS_MAX} of them with --event`,
    );
  return { events, skipped: read.skipped };
}

function skippedText(skipped: ReadonlyMap<string, number>): string {
  return [...skipped].map(([reason, count]) => `${reason}: ${count}`).join('; ') || 'none';
}

/** Returns the tables of events. An event that the name has on any chain keeps its table. */
function tablesOf(
  name: string,
  known: readonly ContractDefinition[],
  events: readonly AbiEvent[],
): readonly EventTable[] {
  const existing = known.flatMap(({ tables }) => tables);
  const added = events.filter((event) => !existing.some((table) => isSameEvent(table.abi, event)));
  const names = eventNames(
    name,
    added,
    existing.map(({ event }) => event),
  );
  return events.map((event) => {
    const found = existing.find((table) => isSameEvent(table.abi, event));
    return found ?? eventTable(name, names[added.indexOf(event)] ?? '', event);
  });
}

/** Parameter names count: they are the columns. */
function isSameEvent(one: AbiEvent, other: AbiEvent): boolean {
  return one.signature === other.signature && JSON.stringify(one.inputs) === JSON.stringify(other.inputs);
}

function joinTables(own: ContractDefinition | undefined, tables: readonly EventTable[]): readonly EventTable[] {
  const kept = own?.tables ?? [];
  return [...kept, ...tables.filter(({ name }) => kept.every((table) => table.name !== name))];
}

function requireParameters(tables: readonly EventTable[], indexed: readonly string[]): void {
  const columns = tables.flatMap(({ parameters }) => parameters);
  const names = new Set(columns.map(({ name }) => name));
  const long = indexed.find((name) => columns.some((column) => column.name === name && !hasBoundedSize(column)));
  if (long !== undefined)
    throw new ContractRefusedError(
      'CONTRACT_COLUMN_UNBOUNDED',
      `${long} can't have an index, because its values may have any size`,
      'Index parameters of the types address, bool, bytes1 to bytes32, int and uint, or hashes of indexed parameters',
    );
  const missing = indexed.find((name) => !names.has(name));
  if (missing !== undefined)
    throw new ContractRefusedError(
      'CONTRACT_COLUMN_UNKNOWN',
      `No event has a parameter ${missing}`,
      `Parameters are ${[...names].join(', ')}`,
    );
}

/** An entry of an index has at most 2,704 bytes: a longer value could not be stored, and would stop the chain. */
function hasBoundedSize({ type, abiType, isHash }: ParameterColumn): boolean {
  return isHash || (type !== 'text' && type !== 'jsonb' && abiType.type !== 'bytes');
}

function lowerFirst(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.min(one, other);
}

async function save(
  transaction: Transaction,
  { name, chainId, addresses, firstBlock, tables }: Omit<ContractDefinition, 'createdAt'>,
): Promise<void> {
  const events = tables.map(
    ({ event, abi }) => `{"event":"${event}","item":${abiItemJson({ kind: 'event', entry: abi })}}`,
  );
  await transaction.query(
    `INSERT INTO contract_definitions (name, chain_id, addresses, first_block, events) VALUES ($1, $2, $3::text[], $4, $5::jsonb)
     ON CONFLICT (name, chain_id) DO UPDATE SET addresses = excluded.addresses, first_block = excluded.first_block,
       events = excluded.events, revision = gen_random_uuid()`,
    [name, chainId, addresses, firstBlock, `[${events.join(',')}]`],
  );
}
