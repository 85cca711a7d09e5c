import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';

/** The known contracts by chain id, then those of the chain's configuration. */
export function deployments(
  protocol: string,
  known: Readonly<Record<number, string | readonly string[]>>,
): (chain: Chain) => readonly Address[] {
  const byChain = new Map(
    Object.entries(known).map(([id, addresses]) => [Number(id), [addresses].flat().map(parseAddress)]),
  );
  return (chain) => {
    const added = chain.marketplaces.filter((entry) => entry.protocol === protocol).map(({ address }) => address);
    return [...(byChain.get(chain.id) ?? []), ...added];
  };
}
