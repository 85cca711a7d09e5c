import type { Chain } from '@chainstead/chains';
import { type Address, type Hash, type Log, parseHash } from '@chainstead/core';
import type { Database, Transaction } from '@chainstead/db';
import { TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { coverBlocks, createPartitions, hashOf, timestampOf } from '@chainstead/testkit';
import { erc20Transfers } from '../dataset.ts';

/** A transfer to seed in a test. */
export interface SeededTransfer {
  readonly from: Address;
  readonly to: Address;
  readonly token: Address;
  readonly value: bigint;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/**
 * Writes transfers like the sync engine: decoded from logs, copied with the rows of their blocks, into one partition
 * unless the chain has any. The caller writes coverage.
 */
export async function seedTransfers(
  database: Database,
  chain: Chain,
  transfers: Iterable<SeededTransfer>,
): Promise<void> {
  await seedLogs(database, chain, logsOf(transfers));
}

/** The same for logs. */
async function seedLogs(database: Database, chain: Chain, logs: Iterable<Log>): Promise<void> {
  await database.transaction(async (transaction) => {
    const seen = new Set<number>();
    await createPartitions(transaction, 'erc20_transfer_sides', chain.id);
    await transaction.copy(
      erc20Transfers.table.name,
      erc20Transfers.table.columns,
      transferLines(chain, logs, seen),
    );
    await seedBlocks(transaction, chain, seen);
  });
}

function* logsOf(transfers: Iterable<SeededTransfer>): Generator<Log> {
  for (const transfer of transfers) yield toLog(transfer);
}

function* transferLines(chain: Chain, logs: Iterable<Log>, seen: Set<number>): Generator<string> {
  for (const log of logs) {
    seen.add(log.blockNumber);
    for (const row of erc20Transfers.decode([log], { chain, timestampOf }))
      yield erc20Transfers.table.copyLine(row);
  }
}

async function seedBlocks(transaction: Transaction, chain: Chain, numbers: Iterable<number>): Promise<void> {
  const lines = [...numbers].map((number) =>
    [
      chain.id,
      number,
      `\\\\x${hashOf(1, number).slice(2)}`,
      new Date(timestampOf(number) * 1000).toISOString(),
    ].join('\t'),
  );
  await transaction.copy('blocks', ['chain_id', 'block_number', 'block_hash', 'block_timestamp'], lines);
}

/** Records a range as covered. */
export async function seedCoverage(
  database: Database,
  chain: Chain,
  first: number,
  last: number,
  proof = 'receipts',
): Promise<void> {
  await coverBlocks(database, chain.id, erc20Transfers.name, first, last, proof);
}

/** Returns the log of a transfer. */
export function toLog(transfer: SeededTransfer): Log {
  const topic = (address: Address): Hash => parseHash(`0x${'0'.repeat(24)}${address.slice(2)}`);
  return {
    address: transfer.token,
    topics: [TRANSFER_TOPIC, topic(transfer.from), topic(transfer.to)],
    data: `0x${transfer.value.toString(16).padStart(64, '0')}`,
    blockNumber: transfer.blockNumber,
    blockHash: hashOf(1, transfer.blockNumber),
    transactionHash: hashOf(2, transfer.blockNumber * 1_000 + transfer.transactionIndex),
    transactionIndex: transfer.transactionIndex,
    logIndex: transfer.logIndex,
    blockTimestamp: null,
  };
}
