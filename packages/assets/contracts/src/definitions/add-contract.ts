import type { Chain } from '@chainstead/chains';
import { type Database, sql, type Transaction } from '@chainstead/db';
import { abiFunction, abiItemJson, readCallableItems } from '@chainstead/events/decoding';
import { type AuditActor, recordAudit, START_ACTOR } from '@chainstead/http/audit-log';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import { removeCoverage } from '@chainstead/sync/requests';
import { buildIndexes, createEventTables } from '../tables/create-tables.ts';
import type { EventTable, ParameterColumn } from '../tables/event-table.ts';
import { readMissingTables } from '../tables/missing-tables.ts';
import { dependentTables } from './child-sets.ts';
import {
  type ContractDefinition,
  ContractRefusedError,
  type Factory,
  lockContracts,
  readDefinitions,
} from './contract-definition.ts';
import { saveFunctions } from './contract-status.ts';
import { dropRemovedTables, requireNotRemoved } from './removed-tables.ts';
import { repeatedIfDeadlocked } from './repeated-if-deadlocked.ts';
import { removeMovedForms, removeMovedRows, removeUnsettled } from './suspend-contracts.ts';
import {
  creationEvent,
  requireParent,
  upgradesFor,
  type WantedContract,
  withUpgraded,
} from './wanted-contract.ts';
import { itemsOf } from './wanted-items.ts';
import { tablesOf } from './wanted-tables.ts';

interface AddedContract {
  readonly tables: readonly EventTable[];
  readonly skipped: ReadonlyMap<string, number>;
}

const NAME = /^[a-z][a-z0-9_]{0,23}$/;
const ADDRESSES_MAX = 1_000;

/**
 * With new addresses, a known contract's history is read again.
 * @throws ContractRefusedError; TablesHeldError if indexes of existing tables wait for their writers
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
  const { items: chosen, named, ...given } = itemsOf(wanted);
  const items = withUpgraded(wanted, chosen);
  const creation = wanted.factory === null ? null : creationEvent(wanted.factory);
  await dropRemovedTables(database, name);
  const { indexes, tables, skipped } = await repeatedIfDeadlocked(database, async (transaction) => {
    // Commits with old definitions come before, or are refused.
    await lockChainCommits(transaction, chain);
    await lockContracts(transaction);
    const definitions = await readDefinitions(transaction);
    const known = definitions.filter((one) => one.name === name);
    const own = known.find(({ chainId }) => chainId === chain.id);
    if (wanted.factory !== null) requireParent(wanted.factory, chain, definitions);
    const all = [...new Set([...(own?.addresses ?? []), ...addresses])];
    if (all.length > ADDRESSES_MAX)
      throw new ContractRefusedError(
        'CONTRACT_ADDRESSES_TOO_MANY',
        `${name} has ${all.length} addresses`,
        `Use at most ${ADDRESSES_MAX} for a name`,
      );
    const firsts = own === undefined ? [wanted.firstBlock] : [own.firstBlock, wanted.firstBlock];
    const firstBlock = firsts.every((block) => block !== null) ? Math.min(...firsts) : null;
    const { upgrade = null, implementation = null } = wanted;
    const defined = tablesOf(name, known, own, { items, named, creation, upgrade, implementation });
    const { tables, creationTable } = defined;
    const factory = factoryOf(wanted, creationTable, firstBlock);
    const upgrades = upgradesFor(wanted, own, tables, firstBlock);
    if (own !== undefined) requireSameFactory(own, factory);
    requireParameters(tables, indexed);
    requireOwnTables(name, tables, definitions);
    const missing = await readMissingTables(transaction);
    const dropped = tables.map((table) => table.name).filter((table) => missing.has(table));
    if (dropped.length > 0)
      await transaction.query(sql`DELETE FROM sync_ranges WHERE dataset = ANY (${dropped}::text[])`);
    await requireNotRemoved(transaction, tables);
    const indexes = await createEventTables(transaction, tables, (table) => [
      ...indexed,
      ...(factory !== null && table.name === creationTable?.name ? [factory.child] : []),
      ...(upgrades !== null && table.event === upgrades.event ? [upgrades.column] : []),
    ]);
    const now = { name, chainId: chain.id, addresses: all, firstBlock, tables, factory, upgrades };
    const isChanged = await save(transaction, now);
    await saveFunctions(transaction, now, readCallableItems(wanted.abi) ?? []);
    if (own !== undefined) {
      const isLower = factory !== null && own.factory !== null && factory.firstBlock < own.factory.firstBlock;
      if (all.length > own.addresses.length || isLower)
        await removeCovered(transaction, chain, { ...own, ...now }, definitions);
      await forgetBelow(transaction, own, now);
      await removeMovedRows(transaction, chain, own.tables, now);
      await removeMovedForms(transaction, chain, own, now);
    }
    if (isChanged)
      await recordAudit(transaction, by, {
        action: 'contract.add',
        target: name,
        details: {
          ...{ chain: chain.key, addresses, events: tables.map(({ event }) => event) },
          ...(upgrade !== null && { upgrade: `${upgrade.block}:${upgrade.log}` }),
          ...(implementation !== null && { implementation }),
        },
      });
    return { tables: defined.tables, skipped: given.skipped, indexes };
  });
  // Builds take as long as the rows and their writers do: no commit waits for them.
  await buildIndexes(database, indexes);
  return { tables, skipped };
}

function factoryOf(
  { factory, chain }: WantedContract,
  creationTable: EventTable | null,
  firstBlock: number | null,
): Factory | null {
  if (factory === null || creationTable === null) return null;
  const { abi, event, parameters } = creationTable;
  const column = parameters[abi.inputs.findIndex(({ name }) => name === factory.child)];
  // Children may be older than the chain's history.
  return {
    ...{ event, child: column?.name ?? '', of: factory.of },
    ...{ firstBlock: firstBlock ?? chain.firstBlock, childFrom: factory.childFrom ?? 'transaction' },
  };
}

function requireSameFactory(
  { name, chainId, factory: known }: ContractDefinition,
  factory: Factory | null,
): void {
  const keyOf = (one: Factory | null) => JSON.stringify(one === null ? null : [one.event, one.child, one.of]);
  if (keyOf(known) !== keyOf(factory))
    throw new ContractRefusedError(
      'CONTRACT_FACTORY_DIFFERENT',
      `${name} is known with ${known === null ? 'no factory' : 'another factory, event or child'}`,
      `Use another name, or run "chainstead contracts remove ${name} --chain ${chainId}" first`,
    );
  if (known !== null && known.childFrom !== factory?.childFrom)
    throw new ContractRefusedError(
      'CONTRACT_FACTORY_DIFFERENT',
      `Events of children of ${name} count from the ${known.childFrom} of the factory event`,
      `Give --child-from ${known.childFrom}, or run "chainstead contracts remove ${name} --chain ${chainId}" first`,
    );
}

/** Also of contracts whose factories are children. Old rows stay: no reorg removes them. */
async function removeCovered(
  transaction: Transaction,
  chain: Chain,
  definition: ContractDefinition,
  definitions: readonly ContractDefinition[],
): Promise<void> {
  const tables = [
    ...new Set([...definition.tables.map(({ name }) => name), ...dependentTables(definition, definitions)]),
  ];
  await transaction.query(
    sql`DELETE FROM sync_ranges WHERE chain_id = ${chain.id} AND dataset = ANY (${tables}::text[])`,
  );
  await removeUnsettled(transaction, chain, tables);
}

/** `v3_swap` of `pool` and `swap` of `pool_v3` would share a table. */
function requireOwnTables(
  name: string,
  tables: readonly EventTable[],
  definitions: readonly ContractDefinition[],
): void {
  const names = new Set(tables.map((table) => table.name));
  for (const other of definitions) {
    const taken = other.name === name ? undefined : other.tables.find((table) => names.has(table.name));
    if (taken !== undefined)
      throw new ContractRefusedError(
        'CONTRACT_TABLE_TAKEN',
        `The table ${taken.name} of ${name} would be that of ${taken.abi.signature} of ${other.name}`,
        'Choose another name for the contract',
      );
  }
}

/** Blocks below the first one are covered without rows: a lower one needs them again. */
async function forgetBelow(
  transaction: Transaction,
  before: ContractDefinition,
  {
    chainId,
    firstBlock,
    factory,
    tables,
  }: Pick<ContractDefinition, 'chainId' | 'firstBlock' | 'factory' | 'tables'>,
): Promise<void> {
  const known = before.factory?.firstBlock ?? before.firstBlock;
  const first = factory?.firstBlock ?? firstBlock ?? 0;
  if (known === null || first >= known) return;
  const names = tables.map(({ name }) => name);
  await removeCoverage(transaction, chainId, names, { from: first, to: known - 1 });
}

function requireParameters(tables: readonly EventTable[], indexed: readonly string[]): void {
  const columns = tables.flatMap(({ parameters }) => parameters);
  const names = new Set(columns.map(({ name }) => name));
  // An index entry has at most 2,704 bytes: a longer value would stop the chain.
  const hasBoundedSize = ({ type, abiType, isHash }: ParameterColumn): boolean =>
    isHash || (type !== 'text' && type !== 'jsonb' && abiType.type !== 'bytes');
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

async function save(
  transaction: Transaction,
  definition: Omit<ContractDefinition, 'createdAt' | 'suspendedReason'>,
): Promise<boolean> {
  const { name, chainId, addresses, firstBlock, tables } = definition;
  const json = (part: object | null): string | null => part && JSON.stringify(part);
  const events = `[${tables.map(storedText).join(',')}]`;
  const saved = await transaction.query(
    sql`INSERT INTO contract_definitions AS known (name, chain_id, addresses, first_block, events, factory, upgrades)
     VALUES (${name}, ${chainId}, ${addresses}::text[], ${firstBlock}, ${events}::jsonb, ${json(definition.factory)}::jsonb, ${json(definition.upgrades)}::jsonb)
     ON CONFLICT (name, chain_id) DO UPDATE SET addresses = excluded.addresses, first_block = excluded.first_block,
       events = excluded.events, factory = excluded.factory, upgrades = excluded.upgrades, revision = gen_random_uuid()
     WHERE (known.addresses, known.first_block, known.events, known.factory, known.upgrades)
       IS DISTINCT FROM (excluded.addresses, excluded.first_block, excluded.events, excluded.factory, excluded.upgrades)
     RETURNING name`,
  );
  return saved.length > 0;
}

function storedText({ event, kind, abi, otherTopics, since, implementations }: EventTable): string {
  const item =
    kind === 'event'
      ? abiItemJson({ kind: 'event', entry: abi })
      : abiItemJson({ kind: 'function', entry: abiFunction(abi.name, abi.inputs) });
  return JSON.stringify({
    ...{ event, item: JSON.parse(item) },
    ...(otherTopics.length > 0 && { otherTopics }),
    ...(since !== null && { since }),
    ...(implementations.length > 0 && { implementations }),
  });
}
