import { type AptosNetwork, chainKeyOf } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import { type Dataset, datasetsOf, RANGE_WORKS, type RangeWork } from '@chainstead/sync';

/** What work on ranges can be asked for: that of the chains of the configuration. */
export interface RangeWorkOffer {
  readonly chains: readonly Chain[];
  readonly datasets: readonly Dataset[];
  /** How history of a chain is read: `BACKFILL_PROOF`. */
  readonly backfillProofOf: (chain: Chain) => 'none' | 'receipts';
  readonly aptos: { readonly networks: readonly AptosNetwork[]; readonly datasets: readonly string[] };
}

/** A chain that work can be asked for. */
export interface JobChain {
  /** As people call it, and addresses. */
  readonly name: string;
  /** As jobs name it. */
  readonly id: string;
  readonly works: readonly RangeWork[];
  /** Names of those that are kept of it. */
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
