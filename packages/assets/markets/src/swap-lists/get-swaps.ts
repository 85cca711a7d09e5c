import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import type { Indexed, LogColumnsPosition, PageBlock } from '@chainstead/pages';
import type { TokenBook } from '@chainstead/tokens/token-book';
import { readAnchorBook } from '../anchors/anchor-steps.ts';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import { type DirectPrices, readValuePrices } from './direct-prices.ts';
import { readSubCategories, type SubCategory } from './sub-category.ts';
import { type SwapSides, sidesOf } from './swap-sides.ts';
import { type SwapValues, valuesOf } from './swap-values.ts';
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
