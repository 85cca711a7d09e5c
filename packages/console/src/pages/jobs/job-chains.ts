import { type AptosNetwork, chainKeyOf } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import { type Dataset, datasetsOf, RANGE_WORKS, type RangeWork } from '@chainstead/sync';

/** The available range jobs, for the chains of the configuration. */
export interface RangeWorkOffer {
  readonly chains: readonly Chain[];
  readonly datasets: readonly Dataset[];
  /** The backfill mode of a chain: `BACKFILL_PROOF`. */
  readonly backfillProofOf: (chain: Chain) => 'none' | 'receipts';
  readonly aptos: { readonly networks: readonly AptosNetwork[]; readonly datasets: readonly string[] };
}

/** A chain that jobs can be created for. */
export interface JobChain {
  /** Display name, also used in URLs. */
  readonly name: string;
  /** Its id in jobs. */
  readonly id: string;
  readonly works: readonly RangeWork[];
  /** Names of its stored datasets. */
  readonly datasets: readonly string[];
  /** Null: it is Aptos. */
  readonly chain: Chain | null;
}

export function jobChains({ chains, datasets, aptos }: RangeWorkOffer): JobChain[] {
  return [
    ...chains.map((chain) => ({
      name: chain.key,
      id: String(chain.id),
      works: RANGE_WORKS,
      datasets: datasetsOf(chain, datasets).map(({ name }) => name),
      chain,
    })),
    ...aptos.networks.map(chainKeyOf).map((name) => ({
      name,
      id: name,
      works: ['backfill' as const],
      datasets: aptos.datasets,
      chain: null,
    })),
  ];
}
