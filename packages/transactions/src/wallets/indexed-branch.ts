import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { type Database, hexText, type Transaction } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/state';
import { type Checkpoint, lockChainCommits } from '@chainstead/sync';

/**
 * The branch that ends with a block which was indexed a moment ago. Of blocks that can still be reorganised, state is read by their hashes, and what is
 * found is written only while the branch is the indexed one.
 */
export interface IndexedBranch {
  /** The hash of a block; null where it is not stored, as every followed one is: others are final. */
  hashAt(number: number): Promise<Hash | null>;
  /** Keeps the chain as it is until the transaction ends. @throws StateUnavailableError where the branch was left */
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
    `SELECT ${hexText('block_hash')} AS hash FROM blocks WHERE chain_id = $1 AND block_number = $2`,
    [id, number],
  );
  return row?.hash ?? null;
}
