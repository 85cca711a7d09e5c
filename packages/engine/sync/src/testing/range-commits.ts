/** Commits of ranges by the engine, with logs that a test gives instead of an upstream. */
import type { Chain } from '@chainstead/chains';
import type { BlockRange, Log } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { timestampOf } from '@chainstead/testkit';
import { commitRange, type RangeCommit } from '../commit/commit-range.ts';
import { createClaimOwner } from '../coverage/claims.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { decodeBatch } from '../read/decoded-batch.ts';
import { createKnownContracts } from '../rows/known-contracts.ts';

/** All logs of a range that an upstream returned. */
export interface GivenRange extends Pick<RangeCommit, 'kind'> {
  readonly range: BlockRange;
  readonly logs: readonly Log[];
  /** @default 'none' */
  readonly proof?: 'none' | 'receipts';
  /** Ranges that were read: other blocks are left out. @default the whole range */
  readonly levelled?: readonly BlockRange[];
}

export interface RangeCommits {
  /** Writes the rows of a range, and its coverage. @throws the error of the commit */
  commit(datasets: readonly Dataset[], given: GivenRange): Promise<void>;
  close(): Promise<void>;
}

export async function openRangeCommits(database: Database, chain: Chain): Promise<RangeCommits> {
  const owner = await createClaimOwner(database);
  const knownContracts = createKnownContracts();
  return {
    async commit(datasets, { range, logs, kind, proof = 'none', levelled = [range] }) {
      const facts = logs.map(({ blockNumber: number, blockHash: hash }) => ({
        ...{ number, hash, parentHash: null, timestamp: timestampOf(number) },
      }));
      const blocks = new Map(facts.map((block) => [block.number, block]));
      const levels = { logs: levelled.map((part) => ({ range: part, proof, reason: null, upstream: null })) };
      if (!(await owner.claim(chain.id, range, 'backfill'))) throw new Error('The range is claimed');
      try {
        const batch = decodeBatch(chain, datasets, logs, blocks);
        const read = { range, blocks, levels };
        await commitRange({ database, chain, datasets, knownContracts }, { read, batch, datasets, owner, kind });
      } catch (error) {
        await owner.release(chain.id, range);
        throw error;
      }
    },
    close: () => owner.close(),
  };
}
