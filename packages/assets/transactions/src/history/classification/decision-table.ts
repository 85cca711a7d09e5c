import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import {
  type Category,
  type CategoryDetail,
  type Classification,
  type ClassificationFeatures,
  COIN,
  featuresOf,
  isBurnt,
  type MovedAsset,
  type NftLeg,
  type WalletTransaction,
} from './classification-features.ts';

interface Case extends ClassificationFeatures {
  readonly transaction: WalletTransaction;
}

interface Rule {
  readonly name: string;
  holds(given: Case): boolean;
  readonly category: Category | ((given: Case) => Category);
  readonly detail?: CategoryDetail | ((given: Case) => CategoryDetail | null);
  /** Depends on facts that only traces show. @default false */
  readonly isInferred?: boolean;
}

/** First match wins; the last rule always matches. Rules without their evidence are skipped. */
export const DECISION_TABLE: readonly Rule[] = [
  { name: 'it failed', holds: ({ transaction }) => transaction.status === 0, category: 'contract interaction' },
  {
    name: 'a trade of a marketplace',
    holds: ({ transaction }) => transaction.trades.length > 0,
    category: ({ transaction }) =>
      transaction.trades.some(({ role }) => role === 'buyer') ? 'nft purchase' : 'nft sale',
    detail: ({ transaction }) => (transaction.trades.some(({ isOffer }) => isOffer) ? 'nft offer' : null),
  },
  {
    name: 'NFTs given up',
    holds: ({ nftsOut, nftsIn }) =>
      nftsOut.length > 0 && nftsIn.length === 0 && nftsOut.every(({ to }) => isBurnt(to)),
    category: 'burn',
    detail: ({ transaction }) => (transaction.evidence.has('liquidityRemove') ? 'liquidity remove' : null),
  },
  {
    name: 'new NFTs, by the wallet’s own doing',
    holds: (given) => areMinted(given) && (given.isSender || given.paid),
    category: 'mint',
    detail: ({ transaction }) => (transaction.evidence.has('liquidityAdd') ? 'liquidity add' : null),
  },
  { name: 'new NFTs, by others', holds: areMinted, category: 'airdrop' },
  {
    name: 'NFTs for NFTs',
    holds: ({ nftsIn, nftsOut }) => nftsIn.length > 0 && nftsOut.length > 0,
    category: 'token swap',
  },
  { name: 'NFTs for money', holds: ({ nftsIn, paid }) => nftsIn.length > 0 && paid, category: 'nft purchase' },
  { name: 'money for NFTs', holds: ({ nftsOut, got }) => nftsOut.length > 0 && got, category: 'nft sale' },
  {
    name: 'NFTs that others handed out',
    holds: (given) =>
      given.nftsIn.length > 0 &&
      !given.isSender &&
      (given.nftsIn.some((leg) => isMovedByOthers(given.transaction.wallet, leg)) ||
        isDistribution(given.transaction, given)),
    category: 'airdrop',
  },
  {
    name: 'NFTs into or out of what was called, which keeps them for others',
    holds: (given) => isKeptByCalled(given),
    category: ({ nftsOut }) => (nftsOut.length > 0 ? 'deposit' : 'withdraw'),
    detail: ({ nftsOut, transaction }) => keepingDetail(transaction, nftsOut.length > 0),
  },
  {
    name: 'NFTs one way',
    holds: ({ nftsOut, nftsIn }) => nftsOut.length > 0 || nftsIn.length > 0,
    category: ({ nftsOut }) => (nftsOut.length > 0 ? 'nft send' : 'nft receive'),
  },
  {
    name: 'a loan',
    holds: ({ got, transaction }) => got && transaction.evidence.has('borrow'),
    category: 'borrow',
  },
  {
    name: 'a loan paid back',
    holds: ({ paid, got, transaction }) => paid && !got && transaction.evidence.has('repay'),
    // Burnt debt tokens: the payment's asset decides.
    category: ({ legsOut, coinsOut }) =>
      coinsOut && legsOut.every(({ to }) => isBurnt(to)) ? 'send' : 'token send',
    detail: 'repay',
  },
  {
    name: 'coins wrapped',
    holds: (given) => given.coinsOut && !given.tokensOut && !given.got && given.transaction.evidence.has('wrap'),
    category: 'deposit',
    detail: 'wrap',
  },
  {
    name: 'coins unwrapped',
    // The wrapped native token pays its caller, whether or not traces show it.
    holds: ({ paid, tokensIn, coinsIn, transaction }) =>
      !paid && !tokensIn && transaction.evidence.has('unwrap') && (coinsIn || !transaction.isTraced),
    category: 'withdraw',
    detail: 'unwrap',
  },
  {
    name: 'given to a protocol in its own name',
    holds: ({ paid, transaction }) => paid && transaction.evidence.has('supply'),
    category: 'deposit',
    detail: ({ transaction }) => keepingDetail(transaction, true),
  },
  {
    name: 'taken back from a protocol',
    holds: ({ got, transaction }) => got && transaction.evidence.has('takeBack'),
    category: 'withdraw',
    detail: ({ transaction }) => keepingDetail(transaction, false),
  },
  {
    name: 'paid for shares of who took it',
    holds: (given) => isShareMinted(given.transaction, given),
    category: 'deposit',
    detail: 'share',
  },
  {
    name: 'shares given up for what their contract gave',
    holds: (given) => isShareBurnt(given.transaction, given),
    category: 'withdraw',
    detail: 'share',
  },
  { name: 'one for another', holds: ({ paid, got }) => paid && got, category: 'token swap' },
  {
    name: 'tokens for coins that only traces would show',
    holds: ({ tokensOut, transaction }) =>
      tokensOut && !transaction.isTraced && transaction.evidence.has('calledUnwrapped'),
    category: 'token swap',
    isInferred: true,
  },
  {
    name: 'tokens given up',
    holds: ({ tokensOut, legsOut }) => tokensOut && legsOut.every(({ to }) => isBurnt(to)),
    category: 'burn',
    detail: bridged,
  },
  { name: 'tokens out', holds: ({ tokensOut }) => tokensOut, category: 'token send', detail: bridged },
  {
    name: 'tokens handed out to many',
    holds: (given) => given.tokensIn && isDistribution(given.transaction, given),
    category: 'airdrop',
  },
  {
    name: 'tokens in',
    holds: ({ tokensIn }) => tokensIn,
    category: 'token receive',
    detail: ({ transaction }) => (transaction.evidence.has('claim') ? 'claim' : null),
  },
  { name: 'coins out', holds: ({ coinsOut }) => coinsOut, category: 'send', detail: bridged },
  { name: 'coins in', holds: ({ coinsIn }) => coinsIn, category: 'receive' },
  {
    name: 'approvals',
    holds: ({ transaction }) => transaction.approvals.some(({ isGranted }) => isGranted),
    category: 'approve',
    detail: permitted,
  },
  {
    name: 'approvals taken back',
    holds: ({ transaction }) => transaction.approvals.length > 0,
    category: 'revoke',
    detail: permitted,
  },
  {
    name: 'only what moves nothing',
    holds: ({ transaction }) => idleCategory(transaction) !== null,
    category: ({ transaction }) => idleCategory(transaction) ?? 'contract interaction',
    detail: ({ transaction, isSender }) =>
      !isSender && transaction.tokens.some(({ value }) => value === 0n) ? 'poisoning' : null,
  },
  {
    name: 'nothing of the wallet moved',
    holds: () => true,
    category: 'contract interaction',
    detail: ({ transaction, isSender }) => (transaction.to === null && isSender ? 'contract creation' : null),
  },
];

function areMinted({ nftsIn }: Case): boolean {
  return nftsIn.length > 0 && nftsIn.every(({ from }) => from === ZERO_ADDRESS);
}

function isMovedByOthers(wallet: Address, { operator, from }: NftLeg): boolean {
  return operator !== null && operator !== wallet && operator !== from;
}

const GIVES = /^(?:deposit|stake)/i;
const TAKES = /^(?:withdraw|unstake|exit)/i;

function isKeptByCalled({ nftsOut, nftsIn, transaction }: Case): boolean {
  const { to, method, evidence } = transaction;
  const isGiven = nftsOut.length > 0;
  const parties = isGiven ? nftsOut.map((leg) => leg.to) : nftsIn.map((leg) => leg.from);
  if (parties.length === 0 || !parties.every((party) => party === to)) return false;
  return evidence.has(isGiven ? 'supply' : 'takeBack') || (isGiven ? GIVES : TAKES).test(method ?? '');
}

function keepingDetail({ evidence }: WalletTransaction, isGiven: boolean): CategoryDetail | null {
  if (isGiven) return evidence.has('stake') ? 'stake' : evidence.has('liquidityAdd') ? 'liquidity add' : null;
  return evidence.has('unstake') ? 'unstake' : evidence.has('liquidityRemove') ? 'liquidity remove' : null;
}

function bridged({ transaction }: Case): CategoryDetail | null {
  return transaction.evidence.has('bridge') ? 'bridge' : null;
}

const PERMITS = /^(?:permit|selfPermit)|WithPermit/;

/** Any sender: smart contract wallets approve in others' transactions. */
function permitted({ transaction }: Case): CategoryDetail | null {
  return PERMITS.test(transaction.method ?? '') ? 'permit' : null;
}

/** The first leg's category, if nothing moved: amount 0, or to oneself. */
function idleCategory({ wallet, coins, tokens, nfts }: WalletTransaction): Category | null {
  if (coins.length > 0) return 'send';
  const [token] = tokens.toSorted((a, b) => a.logIndex - b.logIndex);
  const [nft] = nfts.toSorted((a, b) => a.logIndex - b.logIndex);
  if (token !== undefined && (nft === undefined || token.logIndex < nft.logIndex))
    return token.from === wallet ? 'token send' : 'token receive';
  return nft === undefined ? null : 'nft send';
}

/** For example a vault without events, or a bridged native token that wraps. */
function isShareMinted(
  transaction: WalletTransaction,
  { assetsOut, assetsIn, legsIn }: ClassificationFeatures,
): boolean {
  const [paid] = assetsOut.keys();
  const [share] = assetsIn.keys();
  if (assetsOut.size !== 1 || assetsIn.size !== 1 || paid === undefined || share === undefined || share === COIN)
    return false;
  return legsIn.every(({ from }) => from === ZERO_ADDRESS) && took(transaction, share, paid);
}

/** Tokens were burnt by a contract that paid for them. */
function isShareBurnt(
  transaction: WalletTransaction,
  { legsOut, assetsIn, got }: ClassificationFeatures,
): boolean {
  const contracts = new Set(legsOut.map(({ token }) => token));
  if (!got || contracts.size === 0 || !legsOut.every(({ to }) => isBurnt(to))) return false;
  return [...assetsIn.keys()].every((asset) =>
    [...contracts].some((contract) => gave(transaction, contract, asset)),
  );
}

function took({ coins, tokens, evidence }: WalletTransaction, contract: Address, asset: MovedAsset): boolean {
  return asset === COIN
    ? coins.some(({ to, value }) => to === contract && value > 0n)
    : evidence.has('shareMinted') ||
        tokens.some((leg) => leg.token === asset && leg.to === contract && leg.value > 0n);
}

function gave({ wallet, coins, tokens }: WalletTransaction, contract: Address, asset: MovedAsset): boolean {
  return asset === COIN
    ? coins.some(({ from, to, value }) => from === contract && to === wallet && value > 0n)
    : tokens.some((leg) => leg.token === asset && leg.from === contract && leg.to === wallet && leg.value > 0n);
}

const NAMES = ['airdrop', 'multisend', 'multitransfer', 'disperse', 'batchtransfer'];

const SELECTORS: ReadonlySet<string> = new Set([
  '0x67243482',
  '0x633002d0',
  '0x1e89d545',
  '0xc73a2d60',
  '0x51ba162c',
  '0x83f12fec',
]);

/**
 * The wallet only receives, and is not the sender. The method distributes, or a source sends ten
 * or more receivers a token, equally or unlisted: payouts of exchanges are not included.
 */
function isDistribution(
  { method, selector, evidence, listed }: WalletTransaction,
  { isSender, paid, nftsOut, legsIn }: ClassificationFeatures,
): boolean {
  if (isSender || paid || nftsOut.length > 0) return false;
  const name = method?.toLowerCase() ?? '';
  if (selector !== null && SELECTORS.has(selector)) return true;
  if (NAMES.some((beginning) => name.startsWith(beginning))) return true;
  if (legsIn.length === 0 || !evidence.has('handedOut')) return false;
  return evidence.has('handedOutEqually') || !legsIn.some(({ token }) => listed.has(token));
}

export function classify(transaction: WalletTransaction): Classification {
  const given = { transaction, ...featuresOf(transaction) };
  const index = DECISION_TABLE.findIndex(({ holds }) => holds(given));
  const rule = DECISION_TABLE[index];
  if (rule === undefined) throw new RangeError('The last rule of the decision table does not hold');
  const { category, detail = null, isInferred = false } = rule;
  return {
    category: typeof category === 'function' ? category(given) : category,
    detail: typeof detail === 'function' ? detail(given) : detail,
    isInferred,
    row: index + 1,
  };
}
