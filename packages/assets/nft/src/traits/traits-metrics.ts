import { Counter, type Registry } from '@chainstead/core';

export type TraitsOutcome = 'computed' | 'too-large' | 'begun-again' | 'overtaken' | 'set-aside' | 'failed';

export function createTraitsMetrics(registry: Registry): Counter<'chain' | 'outcome'> {
  return new Counter({
    name: 'chainstead_nft_traits_total',
    help: 'Number of collection trait computations by outcome: computed, too-large, begun-again (restarted because the token IDs were being recounted), overtaken (another process computed it), set-aside (quarantined because it ended processes), failed (retried)',
    labelNames: ['chain', 'outcome'],
    registers: [registry],
  });
}
