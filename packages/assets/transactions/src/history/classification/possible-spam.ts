import type { Address } from '@chainstead/core';
import type { WalletTransaction } from './wallet-transaction.ts';

/** The wallet is not the sender. Legs are of spam tokens, or ERC-20 zeros (address poisoning). */
export function isPossibleSpam(
  { wallet, from, coins, tokens, nfts }: Pick<WalletTransaction, 'wallet' | 'from' | 'coins' | 'tokens' | 'nfts'>,
  isFlagged: (token: Address) => boolean,
): boolean {
  if (from === wallet || coins.length > 0 || tokens.length + nfts.length === 0) return false;
  return (
    tokens.every(({ token, value }) => value === 0n || isFlagged(token)) &&
    nfts.every(({ token }) => isFlagged(token))
  );
}
