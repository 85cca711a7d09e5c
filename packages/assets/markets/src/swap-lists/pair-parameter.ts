import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type ApiDependencies,
  ApiError,
  type EveryBlockDataset,
  InvalidParameterError,
  indexedChain,
  NotFoundError,
  textParameter,
  wire,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { PoolId } from '../events/pool-event.ts';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { exchanges } from '../exchanges/exchanges-of-chain.ts';
import { SWAPS_DATASET } from './swaps-page.ts';

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

/** The same in responses. */
export const pairAddress = wire.wire(
  z.string().openapi({
    pattern: '^0x([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{104})$',
    description: 'Address of the pool. Uniswap v4 and other pool managers: the 32-byte pool id',
  }),
);

export const EVERY_SWAP: EveryBlockDataset = {
  dataset: SWAPS_DATASET,
  setting: 'SWAPS',
  isOn: ({ swaps }) => swaps === 'all',
};

/** Texts of the hosted API for an invalid cursor; others name their parameter. */
export function refuseCursor(error: InvalidParameterError): Error {
  if (!error.message.startsWith('cursor ')) return error;
  const { details = {} } = error;
  return new ApiError({
    code: 'INVALID_PARAMETER',
    status: 400,
    message: 'Cursor is invalid or expired',
    details,
  });
}

type ExchangesChain = Pick<Chain, 'id' | 'exchanges'>;

export function factoriesOf(exchange: string, chain: ExchangesChain): readonly Address[] {
  const wanted = simplified(exchange);
  const name = OTHER_NAMES.get(wanted) ?? wanted;
  const { all } = exchangesOf(chain);
  const named = all.filter(({ exchange: { name: known }, deployment: { factory } }) =>
    [factory, simplified(known)].some((text) => text === wanted || text === name),
  );
  if (named.length > 0) return named.map(({ deployment }) => deployment.factory);
  const family = exchanges.find((known) => simplified(known.name) === name)?.family.name;
  return all
    .filter(({ exchange: { name: known } }) => known === family)
    .map(({ deployment }) => deployment.factory);
}

export function unknownExchange(chain: ExchangesChain, given?: string): InvalidParameterError {
  const names = [...new Set(exchangesOf(chain).all.map(({ exchange }) => exchange.name))];
  return new InvalidParameterError({
    parameter: 'exchange',
    ...(given !== undefined && { given }),
    allowed: [...names, 'or the address of a factory'].join(', '),
    message: 'exchange is not supported on this chain',
  });
}

const OTHER_NAMES = new Map([
  ['quickswap', 'quickswapv2'],
  ['vvs', 'vvsfinance'],
  ['pangolinv2', 'pangolin'],
]);

function simplified(name: string): string {
  return name.toLowerCase().replaceAll(/[\s.-]/g, '');
}
