import type { StateReadingContext } from '@chainstead/node-reads';

export async function isFinal(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  number: number,
  signal: AbortSignal,
): Promise<boolean> {
  return number <= (await newestFinal({ chain, pool }, signal));
}

export async function newestFinal(
  { chain, pool }: Pick<StateReadingContext, 'chain' | 'pool'>,
  signal: AbortSignal,
) {
  const finalized = await pool.getFinalized({ signal });
  if (finalized !== null) return finalized;
  return (await pool.getHead({ signal })).value.number - chain.confirmations;
}
