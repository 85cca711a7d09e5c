import type { Chain } from '@chainstead/chains';
import type { Transaction } from '@chainstead/db';
import { removeCoverage } from '@chainstead/sync';

/** Removes rows and coverage of blocks that a reorg may still replace: datasets that are not indexed would keep them. Runs under the chain's commit lock. */
export async function removeUnsettled(
  transaction: Transaction,
  chain: Chain,
  tables: readonly string[],
): Promise<void> {
  const [row] = await transaction.query<{ checkpoint: number | null }>(
    'SELECT checkpoint FROM sync_chains WHERE chain_id = $1',
    [chain.id],
  );
  const settled = (row?.checkpoint ?? 0) - chain.reorgDepthMax;
  for (const table of tables)
    await transaction.query(`DELETE FROM ${table} WHERE chain_id = $1 AND block_number > $2`, [chain.id, settled]);
  await removeCoverage(transaction, chain.id, tables, { from: settled + 1, to: Number.MAX_SAFE_INTEGER });
}
