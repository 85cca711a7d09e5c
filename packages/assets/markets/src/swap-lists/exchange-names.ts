import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { InvalidParameterError } from '@chainstead/http';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { exchanges } from '../exchanges/exchanges-of-chain.ts';

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
