import type { Chain } from '@chainstead/chains';
import { type ChainId, defineMetrics, gauge } from '@chainstead/core';
import { type Database, type Sql, sql } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import { dependentTables } from './child-sets.ts';
import { ContractRefusedError, readDefinitions } from './contract-definition.ts';
import { removeUnsettled } from './moved-rows.ts';

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
