import type { ChainId } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { type AuditActor, recordAudit, START_ACTOR } from '@chainstead/http/audit-log';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import { readMissingTables } from '../tables/missing-tables.ts';
import { ContractRefusedError, lockContracts, readDefinitions } from './contract-definition.ts';
import { dropRemovedTables, recordRemovedTables } from './removed-tables.ts';
import { repeatedIfDeadlocked } from './repeated-if-deadlocked.ts';

export async function removeContractsOfChain(
  database: Database,
  chainId: ChainId,
  by: AuditActor,
): Promise<void> {
  for (;;) {
    const left = (await readDefinitions(database)).filter((one) => one.chainId === chainId);
    const next = left.find(({ name }) => left.every(({ factory }) => factory?.of !== name));
    if (next === undefined) return;
    await removeContract(database, next.name, chainId, by);
  }
}

interface RemovedContract {
  readonly dropped: readonly string[];
  /** Names of tables that other sessions read. The running program drops them later. */
  readonly held: readonly string[];
}

/** Drops tables that no other chain needs. @returns their names @throws ContractRefusedError */
export async function removeContract(
  database: Database,
  name: string,
  chainId: ChainId,
  by: AuditActor = START_ACTOR,
): Promise<RemovedContract> {
  const unshared = await removeDefinition(database, name, chainId, by);
  const held = await dropRemovedTables(database, name);
  return { dropped: unshared.filter((table) => !held.includes(table)), held };
}

/** Commits with the old definition come before, or are refused: the tables get no more rows. */
function removeDefinition(
  database: Database,
  name: string,
  chainId: ChainId,
  by: AuditActor,
): Promise<readonly string[]> {
  return repeatedIfDeadlocked(database, async (transaction) => {
    await lockChainCommits(transaction, { id: chainId });
    await lockContracts(transaction);
    const definitions = await readDefinitions(transaction);
    const own = definitions.find((one) => one.name === name && one.chainId === chainId);
    if (own === undefined)
      throw new ContractRefusedError(
        'CONTRACT_UNKNOWN',
        `There is no contract ${name} on this chain`,
        'Run "chainstead contracts list" for the names',
      );
    const nested = definitions.find((one) => one.factory?.of === name && one.chainId === chainId);
    if (nested !== undefined)
      throw new ContractRefusedError(
        'CONTRACT_IN_USE',
        `Children of ${name} are the factories of ${nested.name}`,
        `Remove ${nested.name} first`,
      );
    await transaction.query(sql`DELETE FROM contract_definitions WHERE name = ${name} AND chain_id = ${chainId}`);
    const left = definitions.filter((definition) => definition !== own).flatMap(({ tables }) => tables);
    const shared = own.tables.filter((table) => left.some((other) => other.name === table.name));
    const missing = await readMissingTables(transaction);
    for (const table of shared.filter(({ name: stored }) => !missing.has(stored)))
      await transaction.query(sql`DELETE FROM ${rawSql(table.name)} WHERE chain_id = ${chainId}`);
    const unshared = own.tables.filter((table) => !shared.includes(table));
    await recordRemovedTables(transaction, unshared);
    await transaction.query(
      sql`DELETE FROM sync_ranges WHERE chain_id = ${chainId} AND dataset = ANY (${own.tables.map((table) => table.name)}::text[])`,
    );
    await recordAudit(transaction, by, {
      action: 'contract.remove',
      target: name,
      details: { chain_id: chainId },
    });
    return unshared.map((table) => table.name);
  });
}
