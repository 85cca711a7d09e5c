/** What a transaction was to an account, by the node's words alone: the rules of wallets' histories as far as this story has occasion for them. */
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { toEventSelector } from 'viem';
import { addressIn, nativeOf, type TransactionTruth, transfersOf } from './truth.ts';

/** Something that moved from or to the account. */
interface Move {
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

export function categoryOf(truth: TransactionTruth, account: Address): string {
  if (truth.record.receipt_status !== '1') return 'contract interaction';
  const nfts = movesOf(truth, account, 4);
  const coins = nativeOf(truth, account).map(({ value, ...sides }) => ({
    ...sides,
    asset: 'coin',
    amount: value,
  }));
  const tokens = movesOf(truth, account, 3);
  const approvals = approvalsOf(truth, account);
  return (
    ofNfts(nfts.filter(isMoving), truth, account) ??
    ofMoney([...tokens, ...coins].filter(isMoving), account) ??
    (approvals.length === 0 ? null : approvals.some((isGiven) => isGiven) ? 'approve' : 'revoke') ??
    ofIdle(coins, tokens, nfts, account)
  );
}

/** Neither nothing, nor to oneself. */
function isMoving({ from, to, amount }: Move): boolean {
  return from !== to && amount > 0n;
}

function ofNfts(moves: readonly Move[], { from: sender }: TransactionTruth, account: Address): string | null {
  const [out, into] = [moves.filter(({ from }) => from === account), moves.filter(({ to }) => to === account)];
  if (out.length > 0 && into.length > 0) return 'token swap';
  if (out.length > 0) return out.every(({ to }) => to === ZERO_ADDRESS) ? 'burn' : 'nft send';
  if (into.length === 0) return null;
  // No account pays for them here.
  const isMinted = into.every(({ from }) => from === ZERO_ADDRESS);
  return !isMinted ? 'nft receive' : sender === account ? 'mint' : 'airdrop';
}

/** By the remainder of each asset once all is summed. */
function ofMoney(moves: readonly Move[], account: Address): string | null {
  const sums = new Map<string, bigint>();
  for (const { asset, to, amount } of moves)
    sums.set(asset, (sums.get(asset) ?? 0n) + (to === account ? amount : -amount));
  const changed = [...sums].filter(([, sum]) => sum !== 0n);
  // An asset that came back in full was still sent.
  if (changed.length === 0 && moves.length > 0)
    return moves.some(({ asset }) => asset !== 'coin') ? 'token send' : 'send';
  const [out, into] = [changed.filter(([, sum]) => sum < 0n), changed.filter(([, sum]) => sum > 0n)];
  const [side, word] = out.length > 0 ? [out, 'send'] : [into, 'receive'];
  if (out.length > 0 && into.length > 0) return 'token swap';
  if (side.length === 0) return null;
  const ofTokens = side.filter(([asset]) => asset !== 'coin');
  if (ofTokens.length === 0) return word;
  const given = moves.filter(({ asset, from }) => asset !== 'coin' && from === account);
  return word === 'send' && given.every(({ to }) => to === ZERO_ADDRESS) ? 'burn' : `token ${word}`;
}

/** A transaction without transfers has the name of its first event. */
function ofIdle(
  coins: readonly Move[],
  [token]: readonly Move[],
  [nft]: readonly Move[],
  account: Address,
): string {
  if (coins.length > 0) return 'send';
  if (token !== undefined) return token.from === account ? 'token send' : 'token receive';
  return nft === undefined ? 'contract interaction' : 'nft send';
}

function movesOf(truth: TransactionTruth, account: Address, topics: 3 | 4): readonly Move[] {
  return transfersOf(truth, account, topics).map((log) => ({
    asset: log.address,
    from: addressIn(log.topics[1]),
    to: addressIn(log.topics[2]),
    amount: topics === 4 ? 1n : BigInt(log.data),
  }));
}

const APPROVAL = toEventSelector('Approval(address,address,uint256)');
const APPROVAL_FOR_ALL = toEventSelector('ApprovalForAll(address,address,bool)');

/** Whether each gives something; of single NFTs none. */
function approvalsOf({ logs }: TransactionTruth, account: Address): readonly boolean[] {
  return logs.flatMap(({ topics, data }) => {
    const isOne = topics.length === 3 && (topics[0] === APPROVAL || topics[0] === APPROVAL_FOR_ALL);
    return isOne && addressIn(topics[1]) === account ? [BigInt(data) > 0n] : [];
  });
}
