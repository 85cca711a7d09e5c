import type { Chain } from '@chainstead/chains';
import { type ChainId, defineMetrics, gauge } from '@chainstead/core';
import { addressBytes, type Database, rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { recordRewritten } from '@chainstead/sync';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import { removeCoverage } from '@chainstead/sync/requests';
import { type EventTable, UNDECODED } from '../tables/event-table.ts';
import {
  dependOnImplementation,
  formsOf,
  implementationsOf,
  indexedCount,
  isBefore,
  isNamedEvent,
} from '../tables/form-at-log.ts';
import { readMissingTables } from '../tables/missing-tables.ts';
import { dependentTables, upgradesOf } from './child-sets.ts';
import { type ContractDefinition, ContractRefusedError, readDefinitions } from './contract-definition.ts';

export type ContractMetrics = ReturnType<typeof createContractMetrics>;

export const createContractMetrics = defineMetrics('chainstead_contracts', {
  suspended: gauge(
    'Number of contracts that are not indexed further, because their tables exceed CONTRACT_BYTES_MAX',
    ['chain'],
  ),
});

/** Removes only rows that a reorg may replace. @returns suspended contracts, earlier ones too */
export async function suspendLargeContracts(
  database: Database,
  chain: Chain,
  bytesMax: number | null,
): Promise<number> {
  const sizes = await database.query<ContractSize>(sizesStatement(chain));
  let suspended = 0;
  for (const { name, bytes, isSuspended } of sizes) {
    const isTooLarge = bytesMax !== null && bytes > bytesMax;
    if (!isSuspended && isTooLarge)
      await suspend(database, chain, name, `${bytes} bytes exceed CONTRACT_BYTES_MAX=${bytesMax}`);
    if (isSuspended || isTooLarge) suspended += 1;
  }
  return suspended;
}

interface ContractSize {
  readonly name: string;
  readonly bytes: number;
  readonly isSuspended: boolean;
}

export function sizesStatement({ id }: Pick<Chain, 'id'>): Sql {
  return sql`SELECT name, suspended_reason IS NOT NULL AS is_suspended,
    coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint AS bytes
  FROM contract_definitions CROSS JOIN LATERAL jsonb_array_elements(events) AS event
  CROSS JOIN LATERAL to_regclass('contracts.' || name || '_' || (event ->> 'event')) AS event_table
  LEFT JOIN pg_inherits ON inhparent = event_table
  WHERE chain_id = ${id} GROUP BY name, suspended_reason ORDER BY name`;
}

async function suspend(database: Database, chain: Chain, name: string, reason: string): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    const definitions = await readDefinitions(transaction);
    const own = definitions.find((one) => one.name === name && one.chainId === chain.id);
    if (own === undefined || own.suspendedReason !== null) return;
    await transaction.query(
      sql`UPDATE contract_definitions SET suspended_reason = ${reason}, revision = gen_random_uuid() WHERE name = ${name} AND chain_id = ${chain.id}`,
    );
    const tables = [...own.tables.map((table) => table.name), ...dependentTables(own, definitions)];
    await removeUnsettled(transaction, chain, [...new Set(tables)]);
  });
}

/** @throws ContractRefusedError if the chain lacks the name */
export async function resumeContract(database: Database, name: string, chainId: ChainId): Promise<void> {
  const resumed = await database.query(
    sql`UPDATE contract_definitions SET suspended_reason = NULL, revision = gen_random_uuid()
      WHERE name = ${name} AND chain_id = ${chainId} RETURNING name`,
  );
  if (resumed.length === 0)
    throw new ContractRefusedError(
      'CONTRACT_UNKNOWN',
      `There is no contract ${name} on this chain`,
      'Run "chainstead contracts list" for the names',
    );
}

/** Blocks are read again. Under the chain's commit lock. @param before the tables until now */
export async function removeMovedRows(
  transaction: Transaction,
  chain: Chain,
  before: readonly EventTable[],
  { tables, factory }: Pick<ContractDefinition, 'tables' | 'factory'>,
): Promise<void> {
  const added = tables.filter(({ name }) => before.every((table) => table.name !== name));
  for (const table of before) {
    const now = tables.find(({ name }) => name === table.name);
    if (table.abi.isAnonymous && now !== undefined && now.otherTopics.length > table.otherTopics.length)
      await removeFrom(transaction, chain, table.name, 0);
    else if (isNamedEvent(table) && table.event !== factory?.event)
      for (const form of added)
        if (isNamedEvent(form) && form.abi.topic0 === table.abi.topic0 && form.event !== factory?.event)
          await removeRowsOfForm(transaction, chain, table, form);
  }
}

/** Also rows that a reorg may replace: the events wait for upgrades. */
export async function removeMovedForms(
  transaction: Transaction,
  chain: Chain,
  before: Pick<ContractDefinition, 'tables' | 'upgrades'>,
  now: Pick<ContractDefinition, 'tables' | 'upgrades'>,
): Promise<void> {
  const upgrades = upgradesOf(now);
  if (upgrades === null) return;
  const isLower = before.upgrades === null || upgrades.firstBlock < before.upgrades.firstBlock;
  for (const table of before.tables.filter(isNamedEvent)) {
    const [known, forms] = [formsOf(table, before.tables), formsOf(table, now.tables)];
    if (!dependOnImplementation(forms)) continue;
    const isChanged = formsKey(known) !== formsKey(forms);
    if (isChanged || isLower) await removeUnsettled(transaction, chain, [table.name]);
    if (!isChanged) continue;
    const [named] = await transaction.query<{ first: number | null }>(
      sql`SELECT min(block_number) AS first FROM ${rawSql(upgrades.table)}
        WHERE chain_id = ${chain.id} AND ${rawSql(upgrades.column)} = ANY (${implementationsOf(forms).map(addressBytes)}::bytea[])`,
    );
    const changes = [named?.first ?? null, ...forms.map(({ since }) => since?.block ?? null)];
    const first = changes.filter((block) => block !== null);
    if (first.length === 0) continue;
    await removeFrom(transaction, chain, table.name, Math.min(...first));
  }
}

function formsKey(forms: readonly EventTable[]): string {
  return JSON.stringify(forms.map(({ name, since, implementations }) => [name, since, implementations]));
}

/** Datasets that are not indexed would keep them in a reorg. Under the chain's commit lock. */
export async function removeUnsettled(
  transaction: Transaction,
  chain: Chain,
  tables: readonly string[],
): Promise<void> {
  const [row] = await transaction.query<{ checkpoint: number | null }>(
    sql`SELECT checkpoint FROM sync_chains WHERE chain_id = ${chain.id}`,
  );
  const settled = (row?.checkpoint ?? 0) - chain.reorgDepthMax;
  const missing = await readMissingTables(transaction);
  for (const table of tables.filter((name) => !missing.has(name)))
    await transaction.query(
      sql`DELETE FROM ${rawSql(table)} WHERE chain_id = ${chain.id} AND block_number > ${settled}`,
    );
  await removeCoverage(transaction, chain.id, tables, { from: settled + 1, to: Number.MAX_SAFE_INTEGER });
}

async function removeFrom(transaction: Transaction, { id }: Chain, table: string, block: number): Promise<void> {
  await transaction.query(sql`DELETE FROM ${rawSql(table)} WHERE chain_id = ${id} AND block_number >= ${block}`);
  await readAgain(transaction, id, table, block);
}

/** Rows since the other form replaced this one. Undecoded rows may be its logs at any place. */
async function removeRowsOfForm(
  transaction: Transaction,
  { id }: Chain,
  table: EventTable,
  { since, ...form }: EventTable,
): Promise<void> {
  const isLater = since !== null && table.since !== null && isBefore(since, table.since);
  if (since !== null && indexedCount(form) === indexedCount(table) && !isLater) {
    await transaction.query(
      sql`DELETE FROM ${rawSql(table.name)} WHERE chain_id = ${id} AND block_number >= ${since.block} AND (block_number, log_index) >= (${since.block}, ${since.log})`,
    );
    await recordRewritten(transaction, id, [table.name], { from: since.block, to: Number.MAX_SAFE_INTEGER });
  }
  const [removed] = await transaction.query<{ first: number | null }>(
    sql`WITH removed AS (DELETE FROM ${rawSql(table.name)} WHERE chain_id = ${id} AND ${rawSql(UNDECODED)} IS NOT NULL RETURNING block_number)
     SELECT min(block_number) AS first FROM removed`,
  );
  const first = removed?.first ?? null;
  if (first !== null) await readAgain(transaction, id, table.name, first);
}

async function readAgain(transaction: Transaction, id: Chain['id'], table: string, from: number): Promise<void> {
  const range = { from, to: Number.MAX_SAFE_INTEGER };
  await removeCoverage(transaction, id, [table], range);
  await recordRewritten(transaction, id, [table], range);
}
