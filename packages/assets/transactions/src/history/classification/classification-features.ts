import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { NftLeg, TokenLeg, WalletTransaction } from './wallet-transaction.ts';

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
