import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { type Asset, COIN, isBurnt, type Terms } from './terms.ts';
import type { WalletTransaction } from './wallet-transaction.ts';

/**
 * Whether the wallet paid one asset to a contract that made new tokens of itself for it: a vault without events of its own, a bridged coin that
 * wraps.
 */
export function isShareMinted(transaction: WalletTransaction, { assetsOut, assetsIn, legsIn }: Terms): boolean {
  const [paid] = assetsOut.keys();
  const [share] = assetsIn.keys();
  if (assetsOut.size !== 1 || assetsIn.size !== 1 || paid === undefined || share === undefined || share === COIN)
    return false;
  return legsIn.every(({ from }) => from === ZERO_ADDRESS) && took(transaction, share, paid);
}

/** Whether the wallet's tokens were burnt by their contract, which gave coins or tokens for them. */
export function isShareBurnt(transaction: WalletTransaction, { legsOut, assetsIn, got }: Terms): boolean {
  const contracts = new Set(legsOut.map(({ token }) => token));
  if (!got || contracts.size === 0 || !legsOut.every(({ to }) => isBurnt(to))) return false;
  return [...assetsIn.keys()].every((asset) => [...contracts].some((contract) => gave(transaction, contract, asset)));
}

/** Through others: what passed between them, the wallet's own legs don't show. */
function took({ coins, tokens, evidence }: WalletTransaction, contract: Address, asset: Asset): boolean {
  return asset === COIN
    ? coins.some(({ to, value }) => to === contract && value > 0n)
    : evidence.has('shareMinted') || tokens.some((leg) => leg.token === asset && leg.to === contract && leg.value > 0n);
}

function gave({ wallet, coins, tokens }: WalletTransaction, contract: Address, asset: Asset): boolean {
  return asset === COIN
    ? coins.some(({ from, to, value }) => from === contract && to === wallet && value > 0n)
    : tokens.some((leg) => leg.token === asset && leg.from === contract && leg.to === wallet && leg.value > 0n);
}
