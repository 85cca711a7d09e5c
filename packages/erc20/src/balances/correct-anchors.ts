import type { Address } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import { knownBlock, type StateReadingContext } from '@chainstead/state';
import { lockChainCommits } from '@chainstead/sync';
import type { BlockOfState } from '../balance-proofs/state-proofs.ts';
import { saveReadings } from './save-readings.ts';

/** A token of which something else was shown than the chain's state has. */
export interface Contradicted {
  readonly token: Address;
  /** What the state has, where an upstream says so too; null where none does. Base units. */
  readonly right: bigint | null;
}

interface ContradictedOfWallet {
  readonly wallet: Address;
  /** After which it was shown. */
  readonly block: BlockOfState;
  readonly contradicted: readonly Contradicted[];
}

/**
 * What was read of contradicted balances is forgotten, so that nothing is told from it again. What the state has is kept instead where an upstream says
 * so too; the contracts of the others are asked again. Of a block that is not the chain's any more nothing is kept anyway.
 * @throws StateUnavailableError when the block was reorganised away meanwhile; DatabaseError
 */
export async function correctAnchors(
  context: StateReadingContext,
  { wallet, block, contradicted }: ContradictedOfWallet,
): Promise<void> {
  if (contradicted.length === 0) return;
  const { chain, database } = context;
  const known = await knownBlock(database, chain, block.number);
  if (known?.hash !== block.hash) return;
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    // A later reading is another one.
    await transaction.query(
      `UPDATE erc20_wallet_tokens SET anchor_block = NULL, anchor_value = NULL, since = 0, anchored_at = NULL
        WHERE wallet = $1 AND chain_id = $2 AND token = ANY ($3::bytea[]) AND anchor_block <= $4`,
      [addressBytes(wallet), chain.id, contradicted.map(({ token }) => addressBytes(token)), block.number],
    );
  });
  const right = new Map(
    contradicted.flatMap(({ token, right: value }) => (value === null ? [] : [[token, value] as const])),
  );
  if (right.size === 0) return;
  // Two say so: the state, and an upstream.
  await saveReadings(context, { wallet, block: known, first: right, second: right, silent: new Set() });
}
