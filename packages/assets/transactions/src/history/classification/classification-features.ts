import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { Evidence } from '../../evidence/evidence.ts';

export const COIN = 'coin';
export type MovedAsset = Address | typeof COIN;

/** Base units, net, above zero: tokens in log order, the native one last. */
export type Amounts = ReadonlyMap<MovedAsset, bigint>;

export interface ClassificationFeatures {
  readonly assetsOut: Amounts;
  readonly assetsIn: Amounts;
  readonly tokensOut: boolean;
  readonly tokensIn: boolean;
  readonly coinsOut: boolean;
  readonly coinsIn: boolean;
  readonly nftsOut: readonly NftLeg[];
  readonly nftsIn: readonly NftLeg[];
  readonly paid: boolean;
  readonly got: boolean;
  readonly isSender: boolean;
  readonly legsOut: readonly TokenLeg[];
  readonly legsIn: readonly TokenLeg[];
}

/** Legs to oneself and ERC-20 legs of 0 don't count. What came back in full counts only alone. */
export function featuresOf(transaction: WalletTransaction): ClassificationFeatures {
  const { wallet, from } = transaction;
  const coins = transaction.coins.filter(
    (leg) => (leg.from !== leg.to || leg.isMinted === true) && leg.value > 0n,
  );
  const tokens = inLogOrder(transaction.tokens.filter((leg) => leg.from !== leg.to && leg.value > 0n));
  const nfts = inLogOrder(transaction.nfts.filter((leg) => leg.from !== leg.to));
  const moved = [...tokens, ...coins.map((leg) => ({ ...leg, token: COIN }) as const)];
  const net = sumOf(moved, (leg) => (isGiven(leg, wallet) ? -leg.value : leg.value));
  const changed = [...net].filter(([, sum]) => sum !== 0n);
  const isIdle = changed.length === 0 && nfts.length === 0;
  const given = moved.filter((leg) => isGiven(leg, wallet));
  const assetsOut: Amounts = isIdle
    ? sumOf(given, ({ value }) => value)
    : new Map(changed.flatMap(([asset, sum]) => (sum < 0n ? [[asset, -sum] as const] : [])));
  const assetsIn: Amounts = new Map(changed.filter(([, sum]) => sum > 0n));
  const [tokensOut, tokensIn] = [hasToken(assetsOut), hasToken(assetsIn)];
  const [coinsOut, coinsIn] = [assetsOut.has(COIN), assetsIn.has(COIN)];
  return {
    ...{ assetsOut, assetsIn, tokensOut, tokensIn, coinsOut, coinsIn },
    nftsOut: nfts.filter((leg) => leg.from === wallet),
    nftsIn: nfts.filter((leg) => leg.to === wallet),
    paid: tokensOut || coinsOut,
    got: tokensIn || coinsIn,
    isSender: from === wallet,
    legsOut: tokens.filter((leg) => leg.from === wallet && assetsOut.has(leg.token)),
    legsIn: tokens.filter((leg) => leg.to === wallet && assetsIn.has(leg.token)),
  };
}

export function isGiven({ from, isMinted = false }: Pick<Moved, 'from' | 'isMinted'>, wallet: Address): boolean {
  return from === wallet && !isMinted;
}

export function isBurnt(receiver: Address): boolean {
  return receiver === ZERO_ADDRESS || receiver === DEAD_ADDRESS;
}

const DEAD_ADDRESS = `0x${'dead'.padStart(40, '0')}` as Address;

interface Moved {
  readonly token: MovedAsset;
  readonly isMinted?: boolean;
  readonly from: Address;
  readonly value: bigint;
}

function sumOf(moved: readonly Moved[], amountOf: (leg: Moved) => bigint): Map<MovedAsset, bigint> {
  const sums = new Map<MovedAsset, bigint>();
  for (const leg of moved) sums.set(leg.token, (sums.get(leg.token) ?? 0n) + amountOf(leg));
  return sums;
}

function inLogOrder<Leg extends { readonly logIndex: number }>(legs: readonly Leg[]): readonly Leg[] {
  return legs.toSorted((a, b) => a.logIndex - b.logIndex);
}

function hasToken(assets: Amounts): boolean {
  return [...assets.keys()].some((asset) => asset !== COIN);
}

export interface CoinLeg {
  readonly from: Address;
  readonly to: Address;
  /** Wei. */
  readonly value: bigint;
  readonly isInternal: boolean;
  /** Minted by a deposit from the chain below: nothing is paid here. @default false */
  readonly isMinted?: boolean;
}

export interface TokenLeg {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  /** Base units. */
  readonly value: bigint;
  readonly logIndex: number;
}

export interface NftLeg {
  readonly token: Address;
  readonly tokenId: string;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
  readonly operator: Address | null;
  readonly logIndex: number;
}

export interface TradePart {
  readonly role: 'buyer' | 'seller';
  readonly isOffer: boolean;
}

export interface WalletTransaction {
  readonly wallet: Address;
  readonly from: Address;
  readonly to: Address | null;
  /** Null before Byzantium. */
  readonly status: 0 | 1 | null;
  readonly method: string | null;
  readonly selector: string | null;
  readonly coins: readonly CoinLeg[];
  readonly tokens: readonly TokenLeg[];
  readonly nfts: readonly NftLeg[];
  readonly listed: ReadonlySet<Address>;
  readonly approvals: readonly { readonly isGranted: boolean }[];
  readonly trades: readonly TradePart[];
  readonly evidence: ReadonlySet<Evidence>;
  readonly isTraced: boolean;
}

export const CATEGORIES = [
  'send',
  'receive',
  'token send',
  'token receive',
  'nft send',
  'nft receive',
  'token swap',
  'deposit',
  'withdraw',
  'nft purchase',
  'nft sale',
  'airdrop',
  'mint',
  'burn',
  'borrow',
  'contract interaction',
  'approve',
  'revoke',
] as const;
export type Category = (typeof CATEGORIES)[number];

export const CATEGORY_DETAILS = [
  'wrap',
  'unwrap',
  'share',
  'repay',
  'stake',
  'unstake',
  'claim',
  'bridge',
  'liquidity add',
  'liquidity remove',
  'permit',
  'nft offer',
  'contract creation',
  'poisoning',
] as const;
export type CategoryDetail = (typeof CATEGORY_DETAILS)[number];

export interface Classification {
  readonly category: Category;
  readonly detail: CategoryDetail | null;
  readonly isInferred: boolean;
  readonly row: number;
}

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
