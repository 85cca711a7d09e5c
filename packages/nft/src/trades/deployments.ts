import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';

/**
 * Returns the contracts of a marketplace: the known addresses by chain id, and those that the chain's configuration
 * adds for the protocol.
 * @throws InvalidPrimitiveError for a known address that is malformed.
 */
export function deployments(
  protocol: string,
  known: Readonly<Record<number, string | readonly string[]>>,
): (chain: Chain) => readonly Address[] {
  const byChain = new Map(
    Object.entries(known).map(([id, addresses]) => [Number(id), [addresses].flat().map(parseAddress)]),
  );
  return (chain) => {
    const added = chain.marketplaces.filter((one) => one.protocol === protocol).map((one) => one.address);
    return [...(byChain.get(chain.id) ?? []), ...added];
  };
}
