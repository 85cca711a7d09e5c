import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';

/**
 * The payment tokens that count as ether (docs/api/trades-and-prices.md#sale-prices), as in `payment_token`; on chains
 * with another native token the canonical bridged ether. Empty if the chain has no ether.
 */
export function etherPayments(chain: Chain, { withWrapped }: { readonly withWrapped: boolean }): readonly Address[] {
  if (!chain.native.isEther) return chain.bridgedEther === null ? [] : [chain.bridgedEther];
  return withWrapped && chain.wrappedNative !== null ? [ZERO_ADDRESS, chain.wrappedNative] : [ZERO_ADDRESS];
}
