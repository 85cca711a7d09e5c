import type { Chain } from '@chainstead/chains';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';

/**
 * What counts as ether in sale prices (docs/provider-contract.md#where-it-differs), as `payment_token` has it: the native currency
 * where that is ether, with `withWrapped` wrapped ether too; elsewhere the canonical bridged ether. Empty where
 * the chain has no ether.
 */
export function etherPayments(chain: Chain, { withWrapped }: { readonly withWrapped: boolean }): readonly Address[] {
  if (!chain.native.isEther) return chain.bridgedEther === null ? [] : [chain.bridgedEther];
  return withWrapped && chain.wrappedNative !== null ? [ZERO_ADDRESS, chain.wrappedNative] : [ZERO_ADDRESS];
}
