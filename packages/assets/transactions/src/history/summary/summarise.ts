import { type Address, decimalAmount } from '@chainstead/core';
import type { GivenApproval } from '../../approvals/read-approvals.ts';
import {
  type Amounts,
  type Category,
  type ClassificationFeatures,
  COIN,
  featuresOf,
  isGiven,
  type NftLeg,
  type WalletTransaction,
} from '../classification/classification-features.ts';
import { showAllowance } from '../interactions/show-allowance.ts';

export interface SummaryNames {
  readonly coin: { readonly symbol: string; readonly decimals: number };
  tokenOf(token: Address): { readonly symbol: string | null; readonly decimals: number | null };
  collectionOf(token: Address): string | null;
  labelOf(address: Address): string | null;
}

/** Wording may change. */
export function summarise(
  transaction: WalletTransaction,
  category: Category,
  approvals: readonly GivenApproval[],
  names: SummaryNames,
): string {
  const terms = featuresOf(transaction);
  const granted = approvals.filter(({ isGranted }) => isGranted);
  const [out, came] = [outOf(transaction, terms, names), inOf(transaction, terms, names)];
  const [nftsOut, nftsIn] = [nftsOf(terms.nftsOut, 'to'), nftsOf(terms.nftsIn, 'from')];
  switch (category) {
    case 'contract interaction':
      return SIGNED;
    case 'send':
    case 'token send':
      return withParty('Sent', tokensTogether(out, terms.coinsOut), 'to', names);
    case 'receive':
    case 'token receive':
      return withParty('Received', tokensTogether(came, terms.coinsIn), 'from', names);
    case 'nft send':
      return withParty('Sent', nftsOut.parts.length > 0 ? nftsOut : nftsOf(transaction.nfts, 'to'), 'to', names);
    case 'nft receive':
      return withParty('Received', nftsIn, 'from', names);
    case 'token swap':
      return swapped([...out.parts, ...nftsOut.parts], [...came.parts, ...nftsIn.parts]);
    case 'nft purchase':
      return said('Purchased', orUnseen(nftsIn, 'NFTs').parts);
    case 'nft sale':
      return said('Sold', orUnseen(nftsOut, 'NFTs').parts);
    case 'mint':
      return said('Minted', nftsIn.parts);
    case 'burn':
      return said('Burned', firstOf(nftsOut, out).parts);
    case 'airdrop':
      return `${said('Received', firstOf(nftsIn, came).parts)} airdrop`;
    case 'deposit':
      return withLabel('Deposited', firstOf(nftsOut, out), 'to', names);
    case 'withdraw':
      return withLabel('Withdrew', orUnseen(firstOf(nftsIn, came), names.coin.symbol), 'from', names);
    case 'borrow':
      return withLabel('Borrowed', came, 'from', names);
    case 'approve':
      return approved('Approved', granted, names);
    case 'revoke':
      return approved('Revoked', approvals, names);
  }
}

/** Clients search for exactly this. */
const SIGNED = 'Signed a transaction';

interface Side {
  readonly parts: readonly string[];
  readonly party: Address | null;
}

/** First 6 and last 4 characters. */
export function shortAddress(address: Address): string {
  return `${address.slice(0, 6)}...${address.slice(-4)}`;
}

function outOf(
  { wallet, coins, tokens }: WalletTransaction,
  { assetsOut, tokensOut }: ClassificationFeatures,
  names: SummaryNames,
): Side {
  const sent = tokens.filter(({ from }) => from === wallet);
  const spent = coins.filter((leg) => isGiven(leg, wallet));
  const amounts = assetsOut.size > 0 ? assetsOut : firstAmount(sent, spent);
  const parties = tokensOut || spent.length === 0 ? sent.filter(({ token }) => amounts.has(token)) : spent;
  return { parts: amountsIn(amounts, names), party: onlyOne(parties.map(({ to }) => to)) };
}

function inOf(
  { wallet, coins, tokens }: WalletTransaction,
  { assetsIn, tokensIn }: ClassificationFeatures,
  names: SummaryNames,
): Side {
  const received = tokens.filter(({ from, to }) => to === wallet && from !== wallet);
  const got = coins.filter((leg) => leg.to === wallet && !isGiven(leg, wallet));
  const amounts = assetsIn.size > 0 ? assetsIn : firstAmount(received, got);
  const parties = tokensIn || got.length === 0 ? received.filter(({ token }) => amounts.has(token)) : got;
  return { parts: amountsIn(amounts, names), party: onlyOne(parties.map(({ from }) => from)) };
}

function firstAmount(
  tokens: readonly { readonly token: Address; readonly value: bigint }[],
  coins: readonly { readonly value: bigint }[],
): Amounts {
  const [coin] = coins;
  if (coin !== undefined) return new Map([[COIN, coin.value]]);
  const [token] = tokens;
  return new Map(token === undefined ? [] : [[token.token, token.value]]);
}

function amountsIn(amounts: Amounts, { coin, tokenOf }: SummaryNames): readonly string[] {
  return [...amounts].map(([asset, value]) => {
    if (asset === COIN) return `${decimalAmount(value.toString(), coin.decimals)} ${coin.symbol}`;
    const { symbol, decimals } = tokenOf(asset);
    const name = symbol ?? shortAddress(asset);
    return decimals === null ? name : `${decimalAmount(value.toString(), decimals)} ${name}`;
  });
}

/** By count: ids of divisible tokens count as often as they moved. */
function nftsOf(legs: readonly NftLeg[], other: 'from' | 'to'): Side {
  const count = legs.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    parts: legs.length === 0 ? [] : [`${count} ${count === 1n ? 'NFT' : 'NFTs'}`],
    party: onlyOne(legs.map((leg) => leg[other])),
  };
}

function onlyOne(parties: readonly Address[]): Address | null {
  const [party, ...others] = new Set(parties);
  return others.length === 0 ? (party ?? null) : null;
}

function tokensTogether(side: Side, withCoins: boolean): Side {
  const tokens = withCoins ? side.parts.slice(0, -1) : side.parts;
  const coins = withCoins ? side.parts.slice(-1) : [];
  const isReported = tokens.length > 1 || (tokens.length > 0 && withCoins);
  if (!isReported) return side;
  return { parts: [...(tokens.length > 1 ? [`${tokens.length} ERC20 tokens`] : tokens), ...coins], party: null };
}

function firstOf(nfts: Side, others: Side): Side {
  return nfts.parts.length > 0 ? nfts : others;
}

function orUnseen(side: Side, assets: string): Side {
  return side.parts.length > 0 ? side : { ...side, parts: [assets] };
}

function said(verb: string, parts: readonly string[]): string {
  return parts.length === 0 ? SIGNED : `${verb} ${parts.join(' and ')}`;
}

function swapped(out: readonly string[], came: readonly string[]): string {
  return came.length === 0 ? said('Swapped', out) : `${said('Swapped', out)} for ${came.join(' and ')}`;
}

function withParty(verb: string, { parts, party }: Side, word: 'to' | 'from', { labelOf }: SummaryNames): string {
  const text = said(verb, parts);
  return party === null || parts.length === 0 ? text : `${text} ${word} ${labelOf(party) ?? shortAddress(party)}`;
}

function withLabel(verb: string, { parts, party }: Side, word: 'to' | 'from', { labelOf }: SummaryNames): string {
  const text = said(verb, parts);
  const label = party === null ? null : labelOf(party);
  return label === null || parts.length === 0 ? text : `${text} ${word} ${label}`;
}

function approved(
  verb: 'Approved' | 'Revoked',
  approvals: readonly GivenApproval[],
  names: SummaryNames,
): string {
  const [first, ...others] = approvals;
  if (first === undefined) return SIGNED;
  if (others.length > 0) return `${verb} ${approvals.length} tokens`;
  const { symbol, decimals } = names.tokenOf(first.token);
  if (first.kind === 'all') return `${verb} all ${names.collectionOf(first.token) ?? shortAddress(first.token)}`;
  const name = symbol ?? shortAddress(first.token);
  const amount = verb === 'Revoked' || first.value === null ? null : showAllowance(first.value, decimals);
  return amount === null ? `${verb} ${name}` : `${verb} ${amount} ${name}`;
}
