import type { SenderReading } from '@chainstead/answers';
import type { Address, BlockRange } from '@chainstead/core';
import type { Transaction } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/state';
import {
  commitSubjectRows,
  createKnownContracts,
  type InternalTransaction,
  recordProgress,
  recordSubjectRange,
  type Subject,
} from '@chainstead/sync';
import { type ReadBlock, readBlock } from '../reading/read-block.ts';
import { accountTransactions } from '../stored/datasets.ts';
import { findAsked } from './find-asked.ts';
import type { IndexedBranch } from './indexed-branch.ts';
import { selectRows } from './select-rows.ts';

/** A block that a search has found, with the calls inside its transactions where they were looked at. */
export interface FoundBlock {
  readonly block: ReadBlock;
  readonly calls: readonly InternalTransaction[];
}

/** Reads the blocks that a search of a wallet's history finds, and writes what of them is to be kept. */
export interface BlockStore {
  /** @throws StateUnavailableError where no upstream has the block, or none as its header says */
  read(block: number, signal: AbortSignal): Promise<ReadBlock>;
  /**
   * Writes the block's rows of wallets that were asked for, with what is searched by then, in one transaction.
   * @param calls that were made since the last time
   * @param record writes down what is searched; see {@link recordSearched}
   * @throws StateUnavailableError where the blocks' branch was left meanwhile
   */
  save(found: FoundBlock, calls: number, record: (transaction: Transaction) => Promise<void>): Promise<void>;
  /** Records blocks as searched. @throws StateUnavailableError as `save` */
  settle(searched: readonly BlockRange[], calls: number): Promise<void>;
}

/** @param branch that the blocks are of, where they can still be reorganised; null: they are final */
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
      // Also where the wallet is forgotten by now: it is what is being searched for.
      const asked = async (accounts: readonly Address[]) =>
        new Set([...(await findAsked(database, chain, accounts)), subject.address]);
      await commitSubjectRows(dependencies, {
        ...(branch !== null && { begin: (transaction) => branch.hold(transaction) }),
        blocks: [header],
        parts: await selectRows(chain, [block], asked),
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

/** Blocks that are searched for what the search is for. */
export async function recordSearched(
  transaction: Transaction,
  subject: Subject,
  searched: readonly BlockRange[],
): Promise<void> {
  for (const range of searched) await recordSubjectRange(transaction, subject, accountTransactions.name, range);
}
