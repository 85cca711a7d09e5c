import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { readPackedPage } from '@chainstead/db/packed-rows';
import {
  type LookUps,
  readStored,
  STORED_COLUMNS,
  type StoredColumns,
  type TransactionRecord,
  transactionKey,
} from '@chainstead/transactions';
import type { WantedTransaction } from '../page/get-wallet-history.ts';
import { walletTransactionsKind } from './wallet-transactions-reader.ts';

export interface RecordsReading {
  readonly database: ReadDatabase;
  readonly chain: Chain;
  readonly lookUps: LookUps;
  /** Whose request it is. */
  readonly requester: string;
}

/**
 * The transactions of a page, in the order asked: those that are stored and emitted nothing from their rows, all others from a node, together.
 * @throws as {@link LookUps.read}
 */
export async function readRecords(
  reading: RecordsReading,
  wanted: readonly WantedTransaction[],
): Promise<readonly TransactionRecord[]> {
  const known = await readSilent(reading, wanted);
  const missing = wanted.filter(({ hash }) => !known.has(hash));
  if (missing.length > 0) for (const record of await readThrough(reading, missing)) known.set(record.hash, record);
  return wanted.flatMap(({ hash }) => known.get(hash) ?? []);
}

/** A question names the blocks: what was read of them holds for good. */
async function readThrough({ lookUps, chain, requester }: RecordsReading, wanted: readonly WantedTransaction[]) {
  const items = wanted.map(({ hash, transactionIndex: index, blockHash }) => ({ hash, index, blockHash }));
  const kind = walletTransactionsKind;
  const answer = await lookUps.read({ chain, kind, requester, question: { items }, isLasting: () => true });
  return answer.transactions;
}

/** What a transfer of coins to an account without code takes: nothing is left of it to emit a log. */
const TRANSFER_GAS = '21000';

/** Logs are not stored; of some transactions it is certain that they have none: those that failed, and transfers of coins alone. */
async function readSilent({ database, chain }: RecordsReading, wanted: readonly WantedTransaction[]) {
  const silent = new Map<string, TransactionRecord>();
  if (wanted.length === 0) return silent;
  const { rows } = await readPackedPage<StoredColumns, PageRow>(database, STORED_COLUMNS, (select) => ({
    text: `SELECT ${select} FROM (
      SELECT stored.* FROM unnest($2::bigint[], $3::int[], $4::int[]) AS wanted(key, block, index)
      JOIN transactions AS stored ON stored.transaction_key = wanted.key AND stored.chain_id = $1
        AND stored.block_number = wanted.block AND stored.transaction_index = wanted.index) AS page`,
    values: [
      chain.id,
      wanted.map(({ hash }) => transactionKey(hash)),
      wanted.map(({ blockNumber }) => blockNumber),
      wanted.map(({ transactionIndex }) => transactionIndex),
    ],
  }));
  const hashes = new Set<Hash>(wanted.map(({ hash }) => hash));
  for (const { record, input, isSenderRecovered } of rows.map(readStored)) {
    const isTransfer = input === '0x' && record.gasUsed === TRANSFER_GAS;
    const isSilent = record.status === 0 || isTransfer;
    if (isSilent && input !== null && isSenderRecovered && hashes.has(record.hash))
      silent.set(record.hash, { ...record, input, logs: [] });
  }
  return silent;
}

/** The only row of the statement. */
type PageRow = Parameters<typeof STORED_COLUMNS.read>[0];
