import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import type { NameService } from './name-question.ts';

/** Chains that names are read from, by their keys. Unstoppable's are in the order in which they are asked. */
export const NAME_CHAINS: Readonly<Record<NameService, readonly string[]>> = {
  ens: ['eth'],
  unstoppable: ['polygon', 'base', 'eth'],
};

/** Contracts of the services, as each documents them. */
export interface NameContracts {
  /** On Ethereum. */
  readonly universalResolver: Address;
  /** By chain: what gives the records of a name, and what gives the name of an address. */
  readonly unstoppable: Readonly<Record<string, { readonly records: Address; readonly reverse: Address }>>;
}

export const NAME_CONTRACTS: NameContracts = {
  universalResolver: parseAddress('0xeeeeeeee14d718c2b47d9923deab1335e144eeee'),
  unstoppable: {
    polygon: {
      records: parseAddress('0x423f2531bd5d3c3d4ef7c318c2d1d9bede67c680'),
      reverse: parseAddress('0xa9a6a3626993d487d2dbda3173cf58ca1a9d9e9f'),
    },
    base: {
      records: parseAddress('0xf6c1b83977de3deffc476f5048a0a84d3375d498'),
      reverse: parseAddress('0xf6c1b83977de3deffc476f5048a0a84d3375d498'),
    },
    eth: {
      records: parseAddress('0x049aba7510f45ba5b64ea9e658e342f904db358d'),
      reverse: parseAddress('0x049aba7510f45ba5b64ea9e658e342f904db358d'),
    },
  },
};

/** A chain that names are read from, with its nodes. */
export interface NameNodes {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
}

/** Services whose contracts are on one of these chains. */
export function servicesOn(chains: readonly Chain[]): readonly NameService[] {
  return (['ens', 'unstoppable'] as const).filter((service) => chainOfService(chains, service) !== null);
}

/** Returns the chain whose queue carries questions to a service; null if none of its chains is among these. */
export function chainOfService(chains: readonly Chain[], service: NameService): Chain | null {
  const [first] = NAME_CHAINS[service].flatMap((key) => chains.filter((chain) => chain.key === key));
  return first ?? null;
}
