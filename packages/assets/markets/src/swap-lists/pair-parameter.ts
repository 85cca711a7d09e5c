import type { Chain } from '@chainstead/chains';
import { type ApiDependencies, indexedChain, NotFoundError, textParameter } from '@chainstead/http';
import type { PoolId } from '../events/pool-event.ts';
import { EVERY_SWAP } from './every-swap.ts';

export const PAIR_NOT_FOUND = 'Pair not found';

/** @throws NotIndexedError (400) if swaps are off: they reveal most pools */
export function pairNotFound(chains: ApiDependencies['chains'], chain: Chain): NotFoundError {
  indexedChain(chains, chain.key, EVERY_SWAP);
  return new NotFoundError(PAIR_NOT_FOUND);
}

export function pairParameter() {
  return textParameter(
    'the address of a pair (0x and 40 digits) or the id of a pool (0x and 64 digits)',
    (given) =>
      /^0x(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{104})$/i.test(given)
        ? (given.toLowerCase() as PoolId)
        : undefined,
    '[C0005] Invalid address provided',
  ).openapi({
    type: 'string',
    pattern: '^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64}|[0-9a-fA-F]{104})$',
    description:
      'Address of the pool. Uniswap v4 and other pool managers: the 32-byte pool id. A second manager of the same kind: the id and the address of the manager.',
    example: '0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc',
  });
}
