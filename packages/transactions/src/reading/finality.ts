import type { StateReadingContext } from '@chainstead/state';

/** Whether a block can't be reorganised away any more: by the finalized tag, or where the chain has none, by its depth. */
export async function isFinal(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  number: number,
  signal: AbortSignal,
): Promise<boolean> {
  return number <= (await newestFinal({ chain, pool }, signal));
}

/** The newest final block's number; below zero where there is none yet. */
export async function newestFinal(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  signal: AbortSignal,
): Promise<number> {
  const finalized = await pool.getFinalized({ signal });
  if (finalized !== null) return finalized;
  return (await pool.getHead({ signal })).value.number - chain.confirmations;
}
