import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { type Database, hexText, sql, type Transaction } from '@chainstead/db';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import type { Checkpoint } from '@chainstead/sync/checkpoint';
import { lockChainCommits } from '@chainstead/sync/commit-retry';

/** State of unsettled blocks is read by hash; results are written while the branch is indexed. */
export interface IndexedBranch {
  /** Null: not stored. Blocks that are not stored are final. */
  hashAt(number: number): Promise<Hash | null>;
  /** Until the transaction ends. @throws StateUnavailableError if the branch was abandoned */
  hold(transaction: Transaction): Promise<void>;
}

export function createIndexedBranch(
  database: Pick<Database, 'query'>,
  chain: Pick<Chain, 'id'>,
  end: Checkpoint,
): IndexedBranch {
  const hashes = new Map<number, Promise<Hash | null>>();
  return {
    hashAt(number) {
      const hash = hashes.get(number) ?? readHash(database, chain, number);
      hashes.set(number, hash);
      return hash;
    },
    async hold(transaction) {
      await lockChainCommits(transaction, chain);
      if ((await readHash(transaction, chain, end.number)) !== end.hash)
        throw new StateUnavailableError(`Block ${end.number} was reorganised while its branch was searched`);
    },
  };
}

async function readHash(source: Pick<Database, 'query'>, { id }: Pick<Chain, 'id'>, number: number) {
  const [row] = await source.query<{ hash: Hash }>(
    sql`SELECT ${hexText('block_hash')} AS hash FROM blocks WHERE chain_id = ${id} AND block_number = ${number}`,
  );
  return row?.hash ?? null;
}
