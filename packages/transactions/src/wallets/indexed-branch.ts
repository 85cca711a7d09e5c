import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { type Database, hexText, sql, type Transaction } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/node-reads';
import { type Checkpoint, lockChainCommits } from '@chainstead/sync';

/**
 * The branch that ends with a block indexed a moment ago. State of blocks that can still be reorganized is read by
 * their hashes, and results are written only while the branch is the indexed one.
 */
export interface IndexedBranch {
  /** Returns the hash of a block; null if it is not stored. All followed blocks are; the others are final. */
  hashAt(number: number): Promise<Hash | null>;
  /** Locks the chain until the transaction ends. @throws StateUnavailableError if the branch was abandoned */
  hold(transaction: Transaction): Promise<void>;
}

export function createIndexedBranch(
  database: Pick<Database, 'query'>,
  chain: Pick<Chain, 'id'>,
  end: Checkpoint,
): IndexedBranch {
  const known = new Map<number, Promise<Hash | null>>();
  return {
    hashAt(number) {
      const hash = known.get(number) ?? readHash(database, chain, number);
      known.set(number, hash);
      return hash;
    },
    async hold(transaction) {
      await lockChainCommits(transaction, chain);
      if ((await readHash(transaction, chain, end.number)) !== end.hash)
        throw new StateUnavailableError(`Block ${end.number} was reorganised while its branch was searched`);
    },
  };
}

async function readHash(
  source: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  number: number,
): Promise<Hash | null> {
  const [row] = await source.query<{ hash: Hash }>(
    sql`SELECT ${hexText('block_hash')} AS hash FROM blocks WHERE chain_id = ${id} AND block_number = ${number}`,
  );
  return row?.hash ?? null;
}
