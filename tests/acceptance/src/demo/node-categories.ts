import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { ExpectedTrade } from '@chainstead/testkit';
import { COIN, type NodeMove, type NodeTransaction } from './node-transactions.ts';

/**
 * Returns the category of a transaction for a wallet, from node data alone, without any code of the program. The rules are those of
 * docs/api/wallets.md#wallet-history that apply to the demo (it has no wrapped native token).
 */
export function categoryOf(
  transaction: NodeTransaction,
  wallet: Address,
  trades: readonly Pick<ExpectedTrade, 'transactionHash' | 'buyer' | 'seller'>[],
): string {
  const { approvals, moves, succeeded } = transaction;
  if (!succeeded) return 'contract interaction';
  const sales = trades.filter(({ transactionHash }) => transactionHash === transaction.hash);
  if (sales.some(({ buyer }) => buyer === wallet)) return 'nft purchase';
  if (sales.some(({ seller }) => seller === wallet)) return 'nft sale';
  const own = moves.filter(({ from, to }) => from === wallet || to === wallet);
  const counted = own.filter(({ from, to, isNft, amount }) => from !== to && (isNft || amount > 0n));
  const reported = categoryOfMoves(counted, transaction, wallet);
  if (reported !== null) return reported;
  const given = approvals.filter(({ owner }) => owner === wallet);
  if (given.length > 0) return given.some(({ isGiven }) => isGiven) ? 'approve' : 'revoke';
  const [first] = own;
  return first === undefined ? 'contract interaction' : categoryOfMove(first, wallet);
}

/** Null: nothing moved that counts. */
function categoryOfMoves(
  counted: readonly NodeMove[],
  { from: sender }: NodeTransaction,
  wallet: Address,
): string | null {
  const [out, into] = [counted.filter(({ from }) => from === wallet), counted.filter(({ to }) => to === wallet)];
  const [nftsOut, nftsIn] = [out.filter(({ isNft }) => isNft), into.filter(({ isNft }) => isNft)];
  const net = netOf(counted, wallet);
  const [paid, got] = [net.some(([, sum]) => sum < 0n), net.some(([, sum]) => sum > 0n)];
  const isSender = sender === wallet;
  if (nftsOut.length + nftsIn.length > 0) {
    if (nftsIn.length === 0 && nftsOut.every(({ to }) => to === ZERO_ADDRESS)) return 'burn';
    if (nftsIn.length > 0 && nftsIn.every(({ from }) => from === ZERO_ADDRESS))
      return isSender || paid ? 'mint' : 'airdrop';
    if (nftsIn.length > 0 && nftsOut.length > 0) return 'token swap';
    if (nftsIn.length > 0 && paid) return 'nft purchase';
    if (nftsOut.length > 0 && got) return 'nft sale';
    const isGift = nftsIn.some(
      ({ operator, from }) => operator !== null && operator !== wallet && operator !== from,
    );
    if (isGift && !isSender) return 'airdrop';
    return nftsIn.length > 0 ? 'nft receive' : 'nft send';
  }
  const tokensOut = net.some(([asset, sum]) => asset !== COIN && sum < 0n);
  const tokensIn = net.some(([asset, sum]) => asset !== COIN && sum > 0n);
  if (paid && got) return 'token swap';
  if (tokensOut)
    return out.every(({ to, asset }) => asset === COIN || to === ZERO_ADDRESS) ? 'burn' : 'token send';
  if (tokensIn) return 'token receive';
  return paid ? 'send' : got ? 'receive' : null;
}

/** What of each fungible asset came in, less what went out. */
function netOf(
  counted: readonly NodeMove[],
  wallet: Address,
): readonly (readonly [asset: string, sum: bigint])[] {
  const sums = new Map<string, bigint>();
  for (const { asset, isNft, to, amount } of counted)
    if (!isNft) sums.set(asset, (sums.get(asset) ?? 0n) + (to === wallet ? amount : -amount));
  return [...sums];
}

/** Category of a move that does not count in a transaction. */
function categoryOfMove({ asset, isNft, from }: NodeMove, wallet: Address): string {
  const way = from === wallet ? 'send' : 'receive';
  if (isNft) return `nft ${way}`;
  return asset === COIN ? way : `token ${way}`;
}
