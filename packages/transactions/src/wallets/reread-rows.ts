/**
 * Reads anew what logs say of the accounts of stored transactions, where that is not stored: their rows are older than it. Of chains that keep all
 * transactions the dataset is reindexed instead; this is for those that keep what wallets asked for, blocks here and there.
 */
import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import { hexText } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/state';
import { commitSubjectRows, createKnownContracts, type RangeCommandOptions } from '@chainstead/sync';
import { IS_UNREAD } from '../evidence/evidence-bits.ts';
import { readBlock } from '../reading/read-block.ts';
import { accountTransactions } from '../stored/datasets.ts';
import { findAsked } from './find-asked.ts';
import { selectRows } from './select-rows.ts';

type Rereading = Pick<RangeCommandOptions, 'chain' | 'database' | 'datasets' | 'pool'>;

/** Blocks that are read at once. */
const BLOCKS_AT_ONCE = 4;
/** Blocks that are listed at once. */
const LISTED = 1_000;

/**
 * Writes rows anew that were stored before the logs of their transactions were read for them, each block in one transaction: begun again, it goes on with
 * the rest. @returns how many blocks had such rows
 * @throws StateUnavailableError where no node has a block, or none as its header says
 */
export async function rereadRows(
  { chain, database, datasets, pool }: Rereading,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<number> {
  if (chain.transactions.mode === 'all' || !datasets.some(({ name }) => name === accountTransactions.name)) return 0;
  const dependencies = { chain, database, knownContracts: createKnownContracts() };
  let done = 0;
  for (const range of ranges)
    for (let { from } = range; from <= range.to; ) {
      const blocks = await listUnread(database, chain, { from, to: range.to });
      for (let place = 0; place < blocks.length; place += BLOCKS_AT_ONCE) {
        signal.throwIfAborted();
        const read = await Promise.all(
          blocks.slice(place, place + BLOCKS_AT_ONCE).map(({ block }) => readWhole({ chain, pool }, block, signal)),
        );
        for (const one of read) await rewrite(dependencies, one);
        done += read.length;
      }
      from = blocks.length < LISTED ? range.to + 1 : (blocks.at(-1)?.block ?? range.to) + 1;
    }
  return done;
}

function listUnread(database: Rereading['database'], { id }: Chain, { from, to }: BlockRange) {
  return database.query<{ block: number }>(
    `SELECT DISTINCT block_number::int8 AS block FROM account_transactions
      WHERE chain_id = $1 AND block_number BETWEEN $2 AND $3 AND ${IS_UNREAD} ORDER BY block LIMIT ${LISTED}`,
    [id, from, to],
  );
}

async function readWhole(source: Pick<Rereading, 'chain' | 'pool'>, at: number, signal: AbortSignal) {
  const read = await readBlock(source, { at }, signal);
  if (read === null) throw new StateUnavailableError(`No node of ${source.chain.name} has block ${at}`);
  return { header: read.header, transactions: read.transactions, internalTransactions: [] };
}

/** The same rows, and those of accounts that only the logs name; of wallets that nobody asks for any more, too, which have rows of the block. */
async function rewrite(
  dependencies: Pick<Rereading, 'chain' | 'database'> & Pick<Parameters<typeof commitSubjectRows>[0], 'knownContracts'>,
  block: Awaited<ReturnType<typeof readWhole>>,
): Promise<void> {
  const { chain, database } = dependencies;
  const key = [chain.id, block.header.number];
  const stored = await database.query<{ account: Address }>(
    `SELECT DISTINCT ${hexText('account')} AS account FROM account_transactions WHERE chain_id = $1 AND block_number = $2`,
    key,
  );
  const asked = async (accounts: readonly Address[]) =>
    new Set([...(await findAsked(database, chain, accounts)), ...stored.map(({ account }) => account)]);
  await commitSubjectRows(dependencies, {
    blocks: [block.header],
    parts: await selectRows(chain, [block], asked),
    async begin(transaction) {
      await transaction.query(
        `DELETE FROM account_transactions WHERE chain_id = $1 AND block_number = $2 AND ${IS_UNREAD}`,
        key,
      );
    },
    record: async () => undefined,
  });
}
