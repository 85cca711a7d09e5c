import type { Address, BlockRange } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import type { SenderReading } from '@chainstead/pages/on-demand';
import { createKnownContracts, recordSubjectRange } from '@chainstead/sync';
import type { InternalTransaction, Subject } from '@chainstead/sync/datasets';
import { commitSubjectRows } from '@chainstead/sync/ingest';
import { recordProgress } from '@chainstead/sync/requests';
import { type ReadBlock, readBlock } from '../reading/read-block.ts';
import { accountTransactions } from '../stored/datasets.ts';
import { findRequested } from './find-requested.ts';
import type { IndexedBranch } from './indexed-branch.ts';
import { selectRows } from './select-rows.ts';

export interface BlockWithCalls {
  readonly block: ReadBlock;
  readonly calls: readonly InternalTransaction[];
}

export interface BlockStore {
  /** @throws StateUnavailableError if no upstream has it, with data that matches its header */
  read(block: number, signal: AbortSignal): Promise<ReadBlock>;
  /** Atomic. @throws StateUnavailableError if the branch was abandoned meanwhile */
  save(found: BlockWithCalls, calls: number, record: (transaction: Transaction) => Promise<void>): Promise<void>;
  settle(searched: readonly BlockRange[], calls: number): Promise<void>;
}

export function createBlockStore(
  { chain, pool, database }: SenderReading,
  subject: Subject,
  branch: IndexedBranch | null,
): BlockStore {
  const dependencies = { chain, database, knownContracts: createKnownContracts() };
  return {
    async read(block, signal) {
      const at = (await branch?.hashAt(block)) ?? block;
      const read = await readBlock({ chain, pool }, { at }, signal);
      if (read === null) throw new StateUnavailableError(`No node of ${chain.name} has block ${block}`);
      return read;
    },
    async save({ block: { header, transactions }, calls: internalTransactions }, calls, recordDone) {
      const block = { header, transactions, internalTransactions };
      // Includes the wallet even if its request has expired by now: the search is for it.
      const requested = async (accounts: readonly Address[]) =>
        new Set([...(await findRequested(database, chain, accounts)), subject.address]);
      await commitSubjectRows(dependencies, {
        ...(branch !== null && { begin: (transaction) => branch.hold(transaction) }),
        blocks: [header],
        parts: await selectRows(chain, [block], requested),
        async record(transaction, rows) {
          await recordProgress(transaction, subject, { calls, rows });
          await recordDone(transaction);
        },
      });
    },
    settle: (searched, calls) =>
      database.transaction(async (transaction) => {
        await branch?.hold(transaction);
        await recordProgress(transaction, subject, { calls, rows: 0 });
        await recordSearched(transaction, subject, searched);
      }),
  };
}

export async function recordSearched(
  transaction: Transaction,
  subject: Subject,
  searched: readonly BlockRange[],
) {
  for (const range of searched) await recordSubjectRange(transaction, subject, accountTransactions.name, range);
}
