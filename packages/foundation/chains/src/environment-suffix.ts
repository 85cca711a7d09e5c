import type { Chain } from './chain.ts';

/** For keys such as `RPC_URLS_…`: `BASE_SEPOLIA` for `base-sepolia`. */
export function environmentSuffix(chain: Pick<Chain, 'key'>): string {
  return chain.key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}
