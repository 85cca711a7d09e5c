import type { ChainRegistry } from '@chainstead/chains';
import { closest } from './suggestion.ts';

const SHORT_NAME_LENGTH = 5;
const SEPARATORS = /[\s;|+&]+/;

const OTHER_NAMES: Readonly<Record<string, string>> = {
  mainnet: 'eth',
  ether: 'eth',
  bnb: 'bsc',
  binance: 'bsc',
  matic: 'polygon',
  arb: 'arbitrum',
  op: 'optimism',
  avax: 'avalanche',
  ftm: 'fantom',
  xdai: 'gnosis',
};

export function suggestChains(given: string, known: ChainRegistry): string {
  const one = nearest(given, known);
  const words = given.split(SEPARATORS).filter((word) => word !== '');
  const each = words.length > 1 ? words.map((word) => nearest(word, known)) : [];
  const isList = each.length > 0 && new Set(each).size === each.length && each.every((name) => name !== null);
  const several = isList ? each.join(',') : null;
  const meant = [one, several].filter((name) => name !== null);
  return meant.length === 0 ? '' : `Did you mean ${meant.join(', or ')}?`;
}

function nearest(given: string, known: ChainRegistry): string | null {
  const name = given.trim().toLowerCase();
  const exact = known.find(OTHER_NAMES[name] ?? name);
  if (exact !== null) return exact.key;
  const names = known.all().flatMap((chain) => [chain.key, ...chain.apiNames]);
  const near = closest(name, names, name.length < SHORT_NAME_LENGTH ? 1 : 2);
  return near === null ? null : (known.find(near)?.key ?? near);
}
