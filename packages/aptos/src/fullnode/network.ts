import type { AptosNetwork } from '../transaction.ts';

const NETWORKS: Readonly<Record<AptosNetwork, { readonly chainId: number; readonly chainKey: string }>> = {
  mainnet: { chainId: 1, chainKey: 'aptos' },
  testnet: { chainId: 2, chainKey: 'aptos-testnet' },
};

/** Returns the ledger's chain id, which is unrelated to EVM chain ids. */
export function chainIdOf(network: AptosNetwork): number {
  return NETWORKS[network].chainId;
}

/** Returns the name of a network in commands, metrics and logs: `aptos`, `aptos-testnet`. */
export function chainKeyOf(network: AptosNetwork): string {
  return NETWORKS[network].chainKey;
}

/** Returns the network with this name; null for another chain. */
export function networkOfChain(chainKey: string): AptosNetwork | null {
  if (chainKey === NETWORKS.mainnet.chainKey) return 'mainnet';
  return chainKey === NETWORKS.testnet.chainKey ? 'testnet' : null;
}

/** Returns the network with this ledger chain id; null if unknown. */
export function networkOfChainId(chainId: number): AptosNetwork | null {
  if (chainId === NETWORKS.mainnet.chainId) return 'mainnet';
  return chainId === NETWORKS.testnet.chainId ? 'testnet' : null;
}
