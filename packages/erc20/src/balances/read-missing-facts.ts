import type { Chain } from '@chainstead/chains';
import type { ReadingContext } from '@chainstead/state';
import { readTokenFacts } from '@chainstead/tokens';
import type { HeldToken } from './get-wallet-balances.ts';

/** Of one answer: the others are read by themselves, as their transfers are indexed. */
const TOKENS_MAX = 100;
/** So long a contract that says nothing is not asked again. Milliseconds. */
const SILENCE_MS = 60_000;

/**
 * Has the contracts of shown tokens asked for their decimals, which are waited for, and for a supply that is not known or old, which is not.
 * @returns whether there is more to show than before
 */
export async function readMissingFacts(
  context: ReadingContext & { readonly waitMs: number },
  chain: Chain,
  shown: readonly Pick<HeldToken, 'token' | 'facts'>[],
): Promise<boolean> {
  const unread = shown.filter(({ facts }) => facts.decimals === null).slice(0, TOKENS_MAX);
  const old = shown.filter(({ facts }) => facts.decimals !== null && facts.isSupplyOld).slice(0, TOKENS_MAX);
  const tokensOf = (some: typeof shown) => some.map(({ token }) => token);
  if (old.length > 0)
    await readTokenFacts(context, chain, { addresses: tokensOf(old), waitMs: 0, maxAgeMs: SILENCE_MS });
  if (unread.length === 0) return false;
  const options = { waitMs: context.waitMs, maxAgeMs: SILENCE_MS };
  const told = await readTokenFacts(context, chain, { ...options, addresses: tokensOf(unread) });
  return told.size > 0;
}
