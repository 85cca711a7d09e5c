/** Writes rows of contracts as the sync engine does for followed blocks, without a node. */
import type { Chain } from '@chainstead/chains';
import type { BlockRange, Log } from '@chainstead/core';
import { rawSql, sql, type Transaction } from '@chainstead/db';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { Dataset } from '@chainstead/sync/datasets';
import { removeCoverage } from '@chainstead/sync/requests';
import { coverBlocks, createPartitions, timestampOf } from '@chainstead/testkit';

/** Writes rows of the blocks and records their coverage. @param datasets in their order of dependence */
export async function writeContractRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  { range, logs }: { readonly range: BlockRange; readonly logs: readonly Log[] },
): Promise<void> {
  await lockChainCommits(transaction, chain);
  const names = datasets.map(({ name }) => name);
  for (const { decode, dependent, firstBlock, table } of datasets) {
    const first = firstBlock?.(chain) ?? 0;
    const wanted = logs.filter(({ blockNumber }) => blockNumber >= first);
    const lines = decode(wanted, { chain, timestampOf }).map((row) => table.copyLine(row));
    const chosen = await dependent?.select(transaction, chain, { range, datasets: new Set(names) }, lines);
    await createPartitions(transaction, table.name, chain.id);
    await transaction.copy(table.name, table.columns, chosen ?? lines);
  }
  for (const name of names) await coverBlocks(transaction, chain.id, name, range.from, range.to, 'none');
}

/** Removes rows and coverage above a block, as a reorg does. */
export async function removeContractRows(
  transaction: Transaction,
  chain: Chain,
  datasets: readonly Dataset[],
  ancestor: number,
): Promise<void> {
  await lockChainCommits(transaction, chain);
  for (const { table } of datasets)
    await transaction.query(
      sql`DELETE FROM ${rawSql(table.name)} WHERE chain_id = ${chain.id} AND block_number > ${ancestor}`,
    );
  const names = datasets.map(({ name }) => name);
  await removeCoverage(transaction, chain.id, names, { from: ancestor + 1, to: Number.MAX_SAFE_INTEGER });
}
