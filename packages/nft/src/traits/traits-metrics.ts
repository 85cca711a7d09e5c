import { Counter, type Registry } from '@chainstead/core';

/** What became of the work on a collection's traits. */
export type TraitsOutcome = 'computed' | 'too-large' | 'begun-again' | 'overtaken' | 'set-aside' | 'failed';

/** Computings of traits by outcome. */
export function createTraitsMetrics(registry: Registry): Counter<'chain' | 'outcome'> {
  return new Counter({
    name: 'chainstead_nft_traits_total',
    help: 'Collections whose traits were worked on, by outcome: computed, too-large, begun-again (its ids were being counted anew), overtaken (another process computed it), set-aside (it ended processes), failed (tried again)',
    labelNames: ['chain', 'outcome'],
    registers: [registry],
  });
}
