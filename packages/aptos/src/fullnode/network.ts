import type { AptosNetwork } from '../transaction.ts';

const NETWORKS: Readonly<Record<AptosNetwork, { readonly chainId: number; readonly chainKey: string }>> = {
  mainnet: { chainId: 1, chainKey: 'aptos' },
  testnet: { chainId: 2, chainKey: 'aptos-testnet' },
};

/** The ledger's own chain id, which says nothing about EVM chains. */
export function chainIdOf(network: AptosNetwork): number {
  return NETWORKS[network].chainId;
}

/** The name of a network in commands, metrics and logs: `aptos`, `aptos-testnet`. */
export function chainKeyOf(network: AptosNetwork): string {
  return NETWORKS[network].chainKey;
}

/** The network of such a name; null where it is another chain's. */
export function networkOfChain(chainKey: string): AptosNetwork | null {
  if (chainKey === NETWORKS.mainnet.chainKey) return 'mainnet';
  return chainKey === NETWORKS.testnet.chainKey ? 'testnet' : null;
}

/** The network of the ledger's own chain id; null where it is none that is known. */
export function networkOfChainId(chainId: number): AptosNetwork | null {
  if (chainId === NETWORKS.mainnet.chainId) return 'mainnet';
  return chainId === NETWORKS.testnet.chainId ? 'testnet' : null;
}
