import type { Chain } from './chain.ts';

/** What stands after `RPC_URLS_` and its like for this chain: `BASE_SEPOLIA` for `base-sepolia`. */
export function environmentSuffix(chain: Pick<Chain, 'key'>): string {
  return chain.key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}
