import type { Chain } from '@chainstead/chains';
import { InvalidParameterError } from '../errors/api-error.ts';
import { NotIndexedError } from './not-indexed.ts';

/** Finds a chain by any client notation: name, alias, hexadecimal or decimal id, in any letter case. */
export interface ChainLookup {
  find(text: string): Chain | null;
}

/** The configured chains and datasets. */
export interface IndexedHere {
  readonly chains: readonly Chain[];
  /** By name. */
  readonly datasets: readonly string[];
}

/** A dataset that has rows of every block of a chain only with a setting of the chain. */
export interface EveryBlockDataset {
  readonly dataset: string;
  /** The setting without the chain, such as `SWAPS`. Its value is `all`. */
  readonly setting: string;
  isOn(chain: Chain): boolean;
}

/** A dataset that a response needs: any rows of it, by name, or those of every block. */
export type NeededDataset = string | EveryBlockDataset;

/** The known chains, and the indexed ones among them. */
export interface IndexedChains extends ChainLookup {
  isIndexed(chain: Chain): boolean;
  /** Whether a dataset is indexed. */
  keeps(dataset: string): boolean;
  /** Whether a dataset is indexed for every block of a chain. */
  keepsEveryBlock(dataset: EveryBlockDataset, chain: Chain): boolean;
}

/** Accepted chain notations, as a phrase that completes "must be …". */
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

/**
 * Returns the requested chain if everything that the response needs is indexed: a response without it would look like
 * "there is none".
 * @param given the client's value, the key in a cursor, or the default
 * @param datasets the datasets that the response needs
 * @throws InvalidParameterError if the chain is unknown, NotIndexedError if it or a dataset is not indexed.
 */
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

/** Like {@link indexedChain}, for a list parameter `chains`: each once, in order. Reports unknown names together. */
export function indexedChainsOf(
  chains: IndexedChains,
  given: readonly string[],
  ...datasets: readonly NeededDataset[]
): readonly Chain[] {
  return knownChainsOf(chains, given).map(({ key }) => indexedChain(chains, key, ...datasets));
}

/**
 * Returns the chains of a list parameter `chains`, indexed or not: each once, in order.
 * @throws InvalidParameterError with all unknown names
 */
export function knownChainsOf(chains: ChainLookup, given: readonly string[]): readonly Chain[] {
  const found = given.map((name) => chains.find(name));
  const unknown = given.flatMap((name, place) =>
    found[place] === null ? [{ parameter: `chains.${place}`, given: name, allowed: CHAIN_ALLOWED }] : [],
  );
  if (unknown.length > 0) throw new InvalidParameterError(...unknown);
  return [...new Set(found.flatMap((chain) => chain ?? []))];
}
