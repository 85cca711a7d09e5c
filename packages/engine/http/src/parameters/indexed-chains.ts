import type { Chain } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { defineApiError, InvalidParameterError } from '../errors/api-error.ts';

/** By name, alias, hexadecimal or decimal id, in any letter case. */
export interface ChainLookup {
  find(text: string): Chain | null;
}

export interface IndexedHere {
  readonly chains: readonly Chain[];
  readonly datasets: readonly string[];
}

export interface EveryBlockDataset {
  readonly dataset: string;
  /** Name without the chain, such as `SWAPS`. Its value is `all`. */
  readonly setting: string;
  isOn(chain: Chain): boolean;
}

export type NeededDataset = string | EveryBlockDataset;

export interface IndexedChains extends ChainLookup {
  isIndexed(chain: Chain): boolean;
  keeps(dataset: string): boolean;
  keepsEveryBlock(dataset: EveryBlockDataset, chain: Chain): boolean;
}

/** A phrase that completes "must be …". */
export const CHAIN_ALLOWED = 'a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';

/** @param here null: every known chain and every dataset */
export function createIndexedChains(known: ChainLookup, here: IndexedHere | null): IndexedChains {
  const ids = here === null ? null : new Set<number>(here.chains.map(({ id }) => id));
  const kept = here === null ? null : new Set(here.datasets);
  return {
    find: (text) => known.find(text),
    isIndexed: ({ id }) => ids === null || ids.has(id),
    keeps: (dataset) => kept === null || kept.has(dataset),
    keepsEveryBlock: (dataset, chain) => here === null || dataset.isOn(chain),
  };
}

/** Missing data would look like "there is none". @throws InvalidParameterError, NotIndexedError */
export function indexedChain(chains: IndexedChains, given: string, ...datasets: readonly NeededDataset[]): Chain {
  const chain = chains.find(given);
  if (chain === null) throw new InvalidParameterError({ parameter: 'chain', given, allowed: CHAIN_ALLOWED });
  if (!chains.isIndexed(chain)) throw NotIndexedError.ofChain(chain);
  for (const needed of datasets) {
    const dataset = typeof needed === 'string' ? needed : needed.dataset;
    if (!chains.keeps(dataset)) throw NotIndexedError.ofDataset(dataset);
    if (typeof needed !== 'string' && !chains.keepsEveryBlock(needed, chain))
      throw NotIndexedError.ofEveryBlock(needed, chain);
  }
  return chain;
}

export function indexedChainsOf(
  chains: IndexedChains,
  given: readonly string[],
  ...datasets: readonly NeededDataset[]
): readonly Chain[] {
  return knownChainsOf(chains, given).map(({ key }) => indexedChain(chains, key, ...datasets));
}

/** Each once, in order. @throws InvalidParameterError with all unknown names */
export function knownChainsOf(chains: ChainLookup, names: readonly string[]): readonly Chain[] {
  const named = names.map((name) => chains.find(name));
  const unknown = names.flatMap((name, index) =>
    named[index] === null ? [{ parameter: `chains.${index}`, given: name, allowed: CHAIN_ALLOWED }] : [],
  );
  if (unknown.length > 0) throw new InvalidParameterError(...unknown);
  return [...new Set(named.flatMap((chain) => chain ?? []))];
}

/** Known but not indexed here. Not a 404, which clients of the hosted API understand as "there is none". */
export class NotIndexedError extends defineApiError(
  'NOT_INDEXED',
  (what: string, key: string, change: string) => ({
    status: 400,
    message: `${what} is not indexed here: ${change} and restart`,
    details: { reason: 'not-indexed', configuration_key: key },
  }),
) {
  static ofChain(chain: Pick<Chain, 'key'>): NotIndexedError {
    return new NotIndexedError(`Chain ${chain.key}`, 'CHAINS', addTo('CHAINS', chain.key));
  }

  static ofDataset(dataset: string, key = 'DATASETS'): NotIndexedError {
    return new NotIndexedError(`Dataset ${dataset}`, key, addTo(key, dataset));
  }

  static ofEveryBlock(
    { dataset, setting }: { readonly dataset: string; readonly setting: string },
    chain: Pick<Chain, 'key'>,
  ): NotIndexedError {
    const key = `${setting}_${environmentSuffix(chain)}`;
    return new NotIndexedError(`Dataset ${dataset} of chain ${chain.key}`, key, `set ${key}=all`);
  }
}

function addTo(key: string, item: string): string {
  return `add it to ${key} (${key}=${item},…)`;
}
