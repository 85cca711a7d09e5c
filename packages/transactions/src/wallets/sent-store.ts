import type { SenderReading } from '@chainstead/answers';
import type { Address, BlockRange } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/state';
import {
  commitSubjectRows,
  createKnownContracts,
  recordProgress,
  recordSubjectRange,
  type Subject,
} from '@chainstead/sync';
import { type ReadBlock, readBlock } from '../reading/read-block.ts';
import { accountTransactions } from '../stored/datasets.ts';
import { findAsked } from './find-asked.ts';
import { selectRows } from './select-rows.ts';

/** Reads blocks that a wallet sent transactions in, and writes what of them is to be kept. */
export interface SentStore {
  /** @throws StateUnavailableError where no upstream has the block, or none as its header says */
  read(block: number, signal: AbortSignal): Promise<ReadBlock>;
  /**
   * Writes the block's rows of wallets that were asked for, with what is searched by then, in one transaction.
   * @param searched the block, and those around it that are searched
   * @param calls that were made since the last time
   * @returns how many transactions of the block the wallet sent
   */
  save(block: ReadBlock, searched: BlockRange, calls: number): Promise<number>;
  /** Records blocks as searched. */
  settle(searched: readonly BlockRange[], calls: number): Promise<void>;
}

export function createSentStore({ chain, pool, database }: SenderReading, subject: Subject): SentStore {
  const dependencies = { chain, database, knownContracts: createKnownContracts() };
  const record = async (
    transaction: Transaction,
    searched: readonly BlockRange[],
    progress: { readonly calls: number; readonly rows: number },
  ): Promise<void> => {
    await recordProgress(transaction, subject, progress);
    for (const range of searched) await recordSubjectRange(transaction, subject, accountTransactions.name, range);
  };
  return {
    async read(block, signal) {
      const read = await readBlock({ chain, pool }, { at: block }, signal);
      if (read === null) throw new StateUnavailableError(`No node of ${chain.name} has block ${block}`);
      return read;
    },
    async save({ header, transactions, committed }, searched, calls) {
      const block = { header, transactions, internalTransactions: [] };
      // Also where the wallet is forgotten by now: it is what is being searched for.
      const asked = async (accounts: readonly Address[]) =>
        new Set([...(await findAsked(database, chain, accounts)), subject.address]);
      await commitSubjectRows(dependencies, {
        blocks: [header],
        parts: await selectRows(chain, [block], asked),
        record: (transaction, rows) => record(transaction, [searched], { calls, rows }),
      });
      return transactions.filter(({ hash, from }) => committed.has(hash) && from === subject.address).length;
    },
    settle: (searched, calls) =>
      database.transaction((transaction) => record(transaction, searched, { calls, rows: 0 })),
  };
}
