import type { Chain } from '@chainstead/chains';
import { type Hash, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type ReadDatabase, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { readPackedPage } from '@chainstead/db/packed-rows';
import type { TransactionPosition } from '@chainstead/pages';
import { readEvidenceBits, type StoredEvidence } from '../../evidence/token-evidence.ts';
import { readRetainedLogs } from '../../indexed/stored-logs.ts';
import type { TransactionRecord } from '../../records/transaction-record.ts';
import { accountTransactions } from '../../stored/datasets.ts';
import { isPlainTransfer } from '../../stored/is-plain-transfer.ts';
import { readStored, STORED_COLUMNS, type StoredColumns } from '../../stored/stored-transaction.ts';
import { transactionKey } from '../../stored/transaction-key.ts';
import type { ReadTransaction, WantedTransaction } from '../page/get-wallet-history.ts';
import { readCoveredBlocks } from '../page/read-asset-movements.ts';

/** By hash. @param withLogs logs too, not only their evidence */
export async function readStoredRecords(
  { database, chain, withLogs }: { database: ReadDatabase; chain: Chain; withLogs: boolean },
  wanted: readonly WantedTransaction[],
): Promise<ReadonlyMap<Hash, ReadTransaction>> {
  const stored = await readRows(database, chain, wanted);
  const reported = new Map<Hash, ReadTransaction>();
  const unreported: StoredPlace[] = [];
  for (const { hash, legs, ...place } of wanted) {
    const record = stored.get(hash);
    if (record === undefined) continue;
    // Failed transactions have no logs. A plain transfer may have the client's (EIP-7708).
    if (record.status === 0 || (!withLogs && isPlainTransfer(record)))
      reported.set(hash, { record, said: SAYS_NOTHING });
    else if (withLogs) continue;
    else if (legs.said === null) unreported.push({ ...place, record, legs });
    // Approvals of tokens are the only stored ones, if their dataset has the block.
    else if (!legs.said.approvesOtherwise && (!legs.said.approvesTokens || legs.approvals.length > 0))
      reported.set(hash, { record, said: legs.said });
  }
  for (const [hash, read] of await readUnnamed(database, chain, unreported)) reported.set(hash, read);
  const rest = wanted.filter(({ hash }) => stored.has(hash) && !reported.has(hash));
  for (const [hash, logs] of await readRetainedLogs(database, chain, rest)) {
    const record = stored.get(hash);
    if (record !== undefined) reported.set(hash, { record: { ...record, logs }, said: null });
  }
  return reported;
}

async function readRows(
  database: ReadDatabase,
  chain: Chain,
  wanted: readonly WantedTransaction[],
): Promise<ReadonlyMap<Hash, TransactionRecord>> {
  if (wanted.length === 0) return new Map();
  type Page = Parameters<typeof STORED_COLUMNS.read>[0];
  const { rows } = await readPackedPage<StoredColumns, Page>(database, STORED_COLUMNS, (select) => {
    const keys = wanted.map(({ hash }) => transactionKey(hash));
    return sql`WITH page AS MATERIALIZED (
      SELECT stored.* FROM unnest(${keys}::bigint[], ${blocksOf(wanted)}::int[], ${indexesOf(wanted)}::int[]) AS wanted(key, block, index)
      JOIN transactions AS stored ON stored.transaction_key = wanted.key AND stored.chain_id = ${chain.id}
        AND stored.block_number = wanted.block AND stored.transaction_index = wanted.index)
      SELECT ${select} FROM ${STORED_COLUMNS.fitting('page')}`;
  });
  return new Map<Hash, TransactionRecord>(
    rows.map(readStored).flatMap(({ record, input, isSenderRecovered }) => {
      const isWholeRow = input !== null && isSenderRecovered;
      return isWholeRow ? [[record.hash, { ...record, input, logs: [] }]] : [];
    }),
  );
}

const blocksOf = (places: readonly TransactionPosition[]) => places.map(({ block }) => block);
const indexesOf = (places: readonly TransactionPosition[]) => places.map(({ transaction }) => transaction);

const SAYS_NOTHING: StoredEvidence = { evidence: new Set(), approvesTokens: false, approvesOtherwise: false };

interface StoredPlace extends Pick<WantedTransaction, 'block' | 'transaction' | 'legs'> {
  readonly record: TransactionRecord;
}

/** If rows of all accounts are stored, logs without a row have no evidence about it alone. */
async function readUnnamed(database: ReadDatabase, chain: Chain, places: readonly StoredPlace[]) {
  if (places.length === 0) return [];
  const accounts = places.map(({ record: { from, to } }) => (from === ZERO_ADDRESS && to !== null ? to : from));
  const [rows, wholeBlocks] = await Promise.all([
    database.select<{ block: number; index: number; evidence: number }>(
      sql`SELECT part.block_number::int8 AS block, part.transaction_index AS index, part.evidence
       FROM unnest(${accounts.map(addressKey)}::bigint[], ${accounts.map(addressBytes)}::bytea[], ${blocksOf(places)}::int[], ${indexesOf(places)}::int[]) AS wanted(key, account, block, index)
       JOIN account_transactions AS part ON part.account_key = wanted.key AND part.chain_id = ${chain.id} AND part.block_number = wanted.block
         AND part.transaction_index = wanted.index AND part.account = wanted.account`,
    ),
    readCoveredBlocks(database, chain, accountTransactions.name, blocksOf(places)),
  ]);
  const bits = new Map(rows.map(({ block, index, evidence }) => [`${block} ${index}`, evidence]));
  return places.flatMap(({ block, transaction, record, legs }) => {
    const stored = bits.get(`${block} ${transaction}`);
    if (stored === undefined || !wholeBlocks.has(block)) return [];
    const evidence = readEvidenceBits(stored).evidence.intersection(OF_EVERYBODY);
    const said = { evidence, approvesTokens: legs.approvals.length > 0, approvesOtherwise: false };
    return [[record.hash, { record, said }] as const];
  });
}

const OF_EVERYBODY: ReadonlySet<'calledUnwrapped'> = new Set(['calledUnwrapped']);
