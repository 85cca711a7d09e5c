import type { Chain } from '@chainstead/chains';
import { InvalidParameterError } from './api-error.ts';
import { NotIndexedError } from './not-indexed.ts';

/** Finds a chain by what a client may write: name, alias, hexadecimal or decimal id, any letter case. */
export interface ChainLookup {
  find(text: string): Chain | null;
}

/** The chains and datasets that the configuration selects. */
export interface IndexedHere {
  readonly chains: readonly Chain[];
  /** By name. */
  readonly datasets: readonly string[];
}

/** The known chains, and which of them are indexed here. */
export interface IndexedChains extends ChainLookup {
  isIndexed(chain: Chain): boolean;
  /** Whether a dataset is kept. */
  keeps(dataset: string): boolean;
}

/** What a client may write for a chain, as a phrase that completes "must be …". */
export const CHAIN_ALLOWED = 'a known chain by name (eth, base, bsc testnet, …), hexadecimal or decimal id';

/** @param here null: every known chain and every dataset */
export function createIndexedChains(known: ChainLookup, here: IndexedHere | null): IndexedChains {
  const ids = here === null ? null : new Set<number>(here.chains.map(({ id }) => id));
  const kept = here === null ? null : new Set(here.datasets);
  return {
    find: (text) => known.find(text),
    isIndexed: ({ id }) => ids === null || ids.has(id),
    keeps: (dataset) => kept === null || kept.has(dataset),
  };
}

/**
 * The chain that a request means, where all of it that the answer needs is indexed here: an answer without it would look like
 * "there is none".
 * @param given what the client wrote, the key in a cursor, or the default
 * @param datasets those that the answer is made of
 * @throws InvalidParameterError when no such chain is known, NotIndexedError when it or a dataset is not indexed here.
 */
export function indexedChain(chains: IndexedChains, given: string, ...datasets: readonly string[]): Chain {
  const chain = chains.find(given);
  if (chain === null) throw new InvalidParameterError({ parameter: 'chain', given, allowed: CHAIN_ALLOWED });
  if (!chains.isIndexed(chain)) throw NotIndexedError.ofChain(chain);
  const missing = datasets.find((dataset) => !chains.keeps(dataset));
  if (missing !== undefined) throw NotIndexedError.ofDataset(missing);
  return chain;
}

/** As {@link indexedChain}, of a list that is called `chains`: each once, in its order. Names that are unknown are told together. */
export function indexedChainsOf(
  chains: IndexedChains,
  given: readonly string[],
  ...datasets: readonly string[]
): readonly Chain[] {
  const unknown = given.flatMap((name, place) =>
    chains.find(name) === null ? [{ parameter: `chains.${place}`, given: name, allowed: CHAIN_ALLOWED }] : [],
  );
  if (unknown.length > 0) throw new InvalidParameterError(...unknown);
  return [...new Set(given.map((name) => indexedChain(chains, name, ...datasets)))];
}
