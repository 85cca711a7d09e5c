import type { AptosNetwork } from '../transaction.ts';

const NETWORKS: Readonly<Record<AptosNetwork, { readonly chainId: number; readonly chainKey: string }>> = {
  mainnet: { chainId: 1, chainKey: 'aptos' },
  testnet: { chainId: 2, chainKey: 'aptos-testnet' },
};

const NAMES: readonly AptosNetwork[] = ['mainnet', 'testnet'];

export function chainIdOf(network: AptosNetwork): number {
  return NETWORKS[network].chainId;
}

export function chainKeyOf(network: AptosNetwork): string {
  return NETWORKS[network].chainKey;
}

export function networkOfChain(chainKey: string): AptosNetwork | null {
  return NAMES.find((name) => NETWORKS[name].chainKey === chainKey) ?? null;
}

export function networkOfChainId(chainId: number): AptosNetwork | null {
  return NAMES.find((name) => NETWORKS[name].chainId === chainId) ?? null;
}
