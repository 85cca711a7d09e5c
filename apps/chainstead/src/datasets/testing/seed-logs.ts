import type { Chain } from '@chainstead/chains';
import type { Log } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { Dataset } from '@chainstead/sync/datasets';
import { coverBlocks, createPartitions, hashOf, timestampOf } from '@chainstead/testkit';

/** Writes what a dataset makes of logs as the sync engine would: rows, their blocks and the covered blocks from 0 to the highest one. */
export async function seedLogs<Row>(
  database: Database,
  { name, table, decode }: Pick<Dataset<Row>, 'name' | 'table' | 'decode'>,
  chain: Chain,
  logs: readonly Log[],
): Promise<void> {
  const numbers = [...new Set(logs.map(({ blockNumber }) => blockNumber))];
  const rows = decode(logs, { chain, timestampOf });
  const blocks = numbers.map((number) =>
    [
      chain.id,
      number,
      `\\\\x${hashOf(1, number).slice(2)}`,
      new Date(timestampOf(number) * 1_000).toISOString(),
    ].join('\t'),
  );
  await database.transaction(async (transaction) => {
    if (table.isPartitioned) await createPartitions(transaction, table.name, chain.id);
    await transaction.copy(
      table.name,
      table.columns,
      rows.map((row) => table.copyLine(row)),
    );
    await transaction.copy('blocks', ['chain_id', 'block_number', 'block_hash', 'block_timestamp'], blocks);
    await coverBlocks(transaction, chain.id, name, 0, Math.max(0, ...numbers));
  });
}

/** A log of a contract in a block, with the topics and data of an event. */
export function exampleLog(
  event: Pick<Log, 'address' | 'topics' | 'data'>,
  { blockNumber = 7, transactionIndex = 3, logIndex = 9 } = {},
): Log {
  const transactionHash = hashOf(2, blockNumber * 1_000 + transactionIndex);
  const place = { blockNumber, blockHash: hashOf(1, blockNumber), transactionHash, transactionIndex, logIndex };
  return { ...event, ...place, blockTimestamp: null };
}
