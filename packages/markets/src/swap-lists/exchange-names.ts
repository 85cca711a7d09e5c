import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';

/**
 * Returns the factories of an exchange on a chain: of a name without regard to case, spaces, dots and hyphens, or the address of a factory.
 * Empty: no such exchange there.
 */
export function factoriesOf(exchange: string, chain: Pick<Chain, 'id' | 'exchanges'>): readonly Address[] {
  const wanted = simplified(exchange);
  const name = OTHER_NAMES.get(wanted) ?? wanted;
  return exchangesOf(chain)
    .all.filter(({ exchange: known, deployment }) => deployment.factory === wanted || simplified(known.name) === name)
    .map(({ deployment }) => deployment.factory);
}

/** Names of the hosted API that differ from those of the exchanges. */
const OTHER_NAMES = new Map([
  ['quickswap', 'quickswapv2'],
  ['vvs', 'vvsfinance'],
  ['pangolinv2', 'pangolin'],
]);

function simplified(name: string): string {
  return name.toLowerCase().replaceAll(/[\s.-]/g, '');
}
