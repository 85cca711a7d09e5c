import type { Address } from '@chainstead/core';
import type { WalletTransaction } from './wallet-transaction.ts';

/**
 * Unsolicited: the wallet didn't send it, and each leg is of a token that is flagged as spam, or an ERC-20 transfer of
 * zero (address poisoning). Native tokens never are.
 */
export function isPossibleSpam(
  { wallet, from, coins, tokens, nfts }: Pick<WalletTransaction, 'wallet' | 'from' | 'coins' | 'tokens' | 'nfts'>,
  isFlagged: (token: Address) => boolean,
): boolean {
  if (from === wallet || coins.length > 0 || tokens.length + nfts.length === 0) return false;
  return (
    tokens.every(({ token, value }) => value === 0n || isFlagged(token)) && nfts.every(({ token }) => isFlagged(token))
  );
}
