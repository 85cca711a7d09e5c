import type { Chain } from '@chainstead/chains';
import {
  type Address,
  decimalFraction,
  type Fraction,
  invertFraction,
  type Logger,
  multiplyFractions,
  nearestNumber,
  wholeFraction,
} from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { readBalancesAround } from '@chainstead/erc20/balances-around';
import type { Indexed, LogColumnsPosition, PageBlock } from '@chainstead/pages';
import type { TokenBook, TokenFacts } from '@chainstead/tokens/token-book';
import { type AnchorBook, type BlockTime, readAnchorBook } from '../anchors/anchor-steps.ts';
import { ANCHOR_KINDS, type Anchors, anchorsOf, isQuotedIn0 } from '../anchors/anchors-of-chain.ts';
import { soldToken } from '../trades/trades-projection.ts';
import { formsOf, type SwapColumns, type SwapsQuery, swapsPage } from './swaps-page.ts';

export interface ListedSwap extends SwapColumns {
  readonly block: PageBlock;
  readonly sides: SwapSides | null;
  readonly subCategory: SubCategory | null;
  /** Null: liquidity, whose price in the block is unknown, or an unknown token. */
  readonly values: SwapValues | null;
}

export interface SwapsPage {
  readonly swaps: readonly ListedSwap[];
  /** Forms of the token that is bought or sold; empty: each pool's base token. */
  readonly focus: readonly Address[];
  readonly tokenOf: TokenBook;
  readonly indexed: Indexed;
  readonly next: { readonly position: LogColumnsPosition; readonly upperBound: number } | null;
}

/** @throws {InconsistentPageError} if a swap repeatedly lacks its block */
export async function getSwaps(
  database: ReadDatabase,
  chain: Chain,
  query: SwapsQuery,
  { isSpread = false, readDirect = async () => () => null }: SwapsSources = {},
): Promise<SwapsPage> {
  const { rows, blockOf, tokenOf, indexed, next } = await swapsPage(chain, query, isSpread).read(database);
  const anchors = anchorsOf(chain);
  const listed = rows.map((row) => ({ ...row, block: blockOf(row), sides: sidesOf(row, tokenOf, anchors) }));
  const tokens = listed.flatMap(({ token0, token1 }) => [token0 ?? [], token1 ?? []]).flat();
  const { subject } = query;
  const focus = subject.kind === 'pair' || subject.token === null ? [] : formsOf(subject.token, chain);
  const [anchorUsd, subCategories] = await Promise.all([
    readAnchorBook(database, chain, tokens, listed.map(timeOf)),
    readSubCategories(database, chain, listed, { focus, isSpread }),
  ]);
  const pricesOf = await readValuePrices(chain, listed, anchorUsd, readDirect);
  const swaps = listed.map((row, index) => ({
    ...row,
    subCategory: subCategories[index] ?? null,
    values: row.kind === 0 && row.sides !== null ? valuesOf(row.sides, pricesOf(row), timeOf(row)) : null,
  }));
  return { swaps, focus, tokenOf, indexed, next };
}

export interface SwapsSources {
  /** Tables are distributed. @default false */
  readonly isSpread?: boolean;
  readonly readDirect?: (wanted: ReadonlyMap<number, readonly Address[]>) => Promise<DirectPrices>;
}

function timeOf({ block_number: block, block: { block_timestamp } }: Pick<ListedSwap, 'block_number' | 'block'>) {
  return { block, time: Date.parse(block_timestamp) / 1_000 };
}

/** US dollars per whole token by pools against anchors, at the end of a block; null: none. */
type DirectPrices = (token: Address, block: number) => Fraction | null;

/** Without contract reads. A package above implements it: prices follow from pools. */
export type ReadDirectPrices = (
  sources: { readonly database: ReadDatabase; readonly logger: Logger },
  chain: Chain,
  wanted: ReadonlyMap<number, readonly Address[]>,
) => Promise<DirectPrices>;

interface PricedSwap {
  readonly kind: number;
  readonly block_number: number;
  readonly token0: Address | null;
  readonly token1: Address | null;
}

async function readValuePrices(
  chain: Chain,
  swaps: readonly PricedSwap[],
  anchorUsd: AnchorBook,
  read: (wanted: ReadonlyMap<number, readonly Address[]>) => Promise<DirectPrices>,
): Promise<(swap: PricedSwap) => AnchorBook> {
  const anchors = anchorsOf(chain);
  const isAnchor = (token: Address | null) =>
    token !== null && ANCHOR_KINDS.some((kind) => anchors[kind].includes(token));
  const isWithoutAnchor = ({ kind, token0, token1 }: PricedSwap) =>
    kind === 0 && !isAnchor(token0) && !isAnchor(token1);
  const unanchored = Map.groupBy(swaps.filter(isWithoutAnchor), ({ block_number: block }) => block);
  if (unanchored.size === 0) return () => anchorUsd;
  const wanted = new Map(
    [...unanchored].map(([block, some]) => {
      const tokens = some.flatMap(({ token0, token1 }) =>
        token0 === null || token1 === null ? [] : [token0, token1],
      );
      return [block, [...new Set(tokens)]] as const;
    }),
  );
  const direct = await read(wanted);
  const priceAt = (token: Address, { block }: { readonly block: number }) => direct(token, block);
  const directUsd: AnchorBook = Object.assign(priceAt, { isPending: () => false });
  return (swap) => (isWithoutAnchor(swap) ? directUsd : anchorUsd);
}

/** US dollars in the swap's block; null: unknown. */
export interface SwapValues {
  readonly basePriceUsd: number | null;
  readonly quotePriceUsd: number | null;
  readonly totalValueUsd: number | null;
}

const UNVALUED: SwapValues = { basePriceUsd: null, quotePriceUsd: null, totalValueUsd: null };

/** By the quote token, else the base token. The other price follows. No trade: 0. */
function valuesOf({ base, quote, trade }: SwapSides, anchors: AnchorBook, at: BlockTime): SwapValues {
  const usdOf = (token: Address): Fraction | null => anchors(token, at);
  if (anchors.isPending(quote.token.address, at)) return UNVALUED;
  const quotePrice = usdOf(quote.token.address);
  const [anchor, other] = quotePrice === null ? [base, quote] : [quote, base];
  const price = quotePrice ?? usdOf(base.token.address);
  const amount = wholeAmount(anchor);
  if (price === null || amount === null) return UNVALUED;
  const value = trade === null ? wholeFraction(0n) : multiplyFractions(amount, price);
  const otherAmount = trade === null ? null : wholeAmount(other);
  const anchorUsd = nearestNumber(price);
  const otherUsd = otherAmount && nearestNumber(multiplyFractions(value, invertFraction(otherAmount)));
  return {
    basePriceUsd: anchor === base ? anchorUsd : otherUsd,
    quotePriceUsd: anchor === base ? otherUsd : anchorUsd,
    totalValueUsd: nearestNumber(value),
  };
}

/** Positions of traders: docs/api/swaps.md#positions. */
export const SUB_CATEGORIES = ['newPosition', 'accumulation', 'partialSell', 'sellAll'] as const;
type SubCategory = (typeof SUB_CATEGORIES)[number];

interface PositionedSwap {
  readonly sides: SwapSides | null;
  readonly token0: Address | null;
  readonly token1: Address | null;
  readonly wallet: Address;
  readonly beneficiary: Address | null;
  readonly block_number: number;
  readonly transaction_index: number;
}

/** Compares the balance before a purchase, or after a sale. Null: no trade, or unknown. */
async function readSubCategories(
  database: ReadDatabase,
  chain: Chain,
  swaps: readonly PositionedSwap[],
  { focus, isSpread }: { readonly focus: readonly Address[]; readonly isSpread: boolean },
): Promise<readonly (SubCategory | null)[]> {
  const { native } = anchorsOf(chain);
  const trades = swaps.map((swap) => tradeOf(swap, focus, { native, wrapped: chain.wrappedNative }));
  const changes = trades.flatMap((trade) => trade ?? []);
  const balances = (await readBalancesAround(database, chain, changes, isSpread)).values();
  return trades.map((trade) => {
    if (trade === null) return null;
    const { value: around = null } = balances.next();
    if (around === null || (trade.isNative && !around.isMoved)) return null;
    if (trade.isBuy) return around.before === 0n ? 'newPosition' : 'accumulation';
    return around.after === 0n ? 'sellAll' : 'partialSell';
  });
}

function tradeOf(
  { sides, token0, token1, wallet, beneficiary, ...place }: PositionedSwap,
  focus: readonly Address[],
  { native, wrapped }: { readonly native: Anchors['native']; readonly wrapped: Address | null },
) {
  if (sides === null || sides.trade === null) return null;
  const viewed = viewedSide({ token0 }, sides, focus);
  const token = viewed.type === 'token0' ? token0 : token1;
  const isNative = token !== null && native.includes(token);
  // Transfers show no native balance, nor a wrapped one without deposits and withdrawals.
  if (token === null || (isNative && token !== wrapped)) return null;
  const isBuy = sides.trade.bought === viewed;
  const { block_number: block, transaction_index: transactionIndex } = place;
  return { isBuy, isNative, account: beneficiary ?? wallet, token, block, transactionIndex };
}

export interface SwapSide {
  readonly token: TokenFacts;
  readonly type: 'token0' | 'token1';
  /** Base units into the pool; negative: out of it; null: unknown. */
  readonly amount: string | null;
}

export interface SwapSides {
  readonly base: SwapSide;
  readonly quote: SwapSide;
  readonly trade: { readonly sold: SwapSide; readonly bought: SwapSide } | null;
}

/** Null: an unknown token. Amounts of liquidity have one sign: no trade. */
function sidesOf(
  row: Record<'token0' | 'token1', Address | null> & Record<'amount0' | 'amount1', string | null>,
  tokenOf: TokenBook,
  anchors: Anchors,
): SwapSides | null {
  const { token0, token1, amount0, amount1 } = row;
  if (token0 === null || token1 === null) return null;
  const side0: SwapSide = { token: tokenOf(token0), type: 'token0', amount: amount0 };
  const side1: SwapSide = { token: tokenOf(token1), type: 'token1', amount: amount1 };
  const [base, quote] = isQuotedIn0(token0, token1, anchors) ? [side1, side0] : [side0, side1];
  const sold = amount0 === null || amount1 === null ? null : soldToken(BigInt(amount0), BigInt(amount1));
  if (sold === null) return { base, quote, trade: null };
  return { base, quote, trade: sold === 0 ? { sold: side0, bought: side1 } : { sold: side1, bought: side0 } };
}

/** `focus`: forms of a token of the swap; empty: the base token. */
export function viewedSide(
  { token0 }: { readonly token0: Address | null },
  { base, quote }: SwapSides,
  focus: readonly Address[],
): SwapSide {
  if (focus.length === 0) return base;
  const type = token0 !== null && focus.includes(token0) ? 'token0' : 'token1';
  return base.type === type ? base : quote;
}

/** Quote tokens per base token. Null: no trade, or unknown decimals. */
export function baseQuotePrice({ base, quote, trade }: SwapSides): string | null {
  const [amount, price] = [wholeAmount(base), wholeAmount(quote)];
  if (trade === null || amount === null || price === null) return null;
  return decimalFraction(multiplyFractions(price, invertFraction(amount)), SIGNIFICANT_DIGITS);
}

const SIGNIFICANT_DIGITS = 17;

/** Unsigned. Null: unknown amount or decimals. */
function wholeAmount({ amount, token: { decimals } }: SwapSide): Fraction | null {
  if (amount === null || decimals === null) return null;
  return { numerator: BigInt(amount.replace('-', '')), denominator: 10n ** BigInt(decimals) };
}
