import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import {
  type Indexed,
  type IndexedColumns,
  type PageBlock,
  readBlocks,
  readConsistentPage,
  readIndexed,
} from '@chainstead/pages';
import { type TokenBook, type TokenEntry, tokenBook } from '@chainstead/tokens';
import { readAnchorBook } from '../anchors/anchor-steps.ts';
import { anchorsOf, nativeTokenOf } from '../anchors/anchors-of-chain.ts';
import { type DirectPrices, readValuePrices } from './direct-prices.ts';
import { readSubCategories, type SubCategory } from './sub-category.ts';
import { type SwapSides, sidesOf } from './swap-sides.ts';
import { type SwapValues, valuesOf } from './swap-values.ts';
import {
  formsOf,
  SWAPS,
  type SwapPlace,
  type SwapsQuery,
  type SwapsReading,
  swapsStatement,
} from './swaps-statement.ts';

export interface ListedSwap extends RowOf<typeof SWAPS> {
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
  readonly next: { readonly position: SwapPlace; readonly upperBound: number } | null;
}

/** @throws {InconsistentPageError} if a swap repeatedly lacks its block */
export function getSwaps(
  database: ReadDatabase,
  chain: Chain,
  query: SwapsQuery,
  { isSpread = false, readDirect = async () => () => null }: SwapsSources = {},
): Promise<SwapsPage> {
  return readConsistentPage(async () => {
    const { rows, page } = await readPackedPage<
      RowOf<typeof SWAPS>,
      IndexedColumns & PackedTexts & { readonly blocks: string | null; readonly tokens: readonly TokenEntry[] | null }
    >(database, SWAPS, (select) => swapsStatement(chain, query, { isSpread, select }));
    const blockOf = readBlocks(page.blocks, rows);
    const last = rows.length > query.limit ? rows[query.limit - 1] : undefined;
    const newest = Math.max(page.indexed_to ?? 0, ...rows.map(({ block_number }) => block_number));
    const tokenOf = tokenBook(page.tokens, nativeTokenOf(chain));
    const anchors = anchorsOf(chain);
    const listed = rows
      .slice(0, query.limit)
      .map((row) => ({ ...row, block: blockOf(row), sides: sidesOf(row, tokenOf, anchors) }));
    const tokens = listed.flatMap(({ token0, token1 }) => [token0 ?? [], token1 ?? []]).flat();
    const { subject } = query;
    const focus = subject.kind === 'pair' || subject.token === null ? [] : formsOf(subject.token, chain);
    const [anchorUsd, subCategories] = await Promise.all([
      readAnchorBook(database, chain, tokens, listed.map(timeOf)),
      readSubCategories(database, chain, listed, { focus, isSpread }),
    ]);
    const pricesOf = await readValuePrices(chain, listed, anchorUsd, readDirect);
    return {
      swaps: listed.map((row, index) => ({
        ...row,
        subCategory: subCategories[index] ?? null,
        values: row.kind === 0 && row.sides !== null ? valuesOf(row.sides, pricesOf(row), timeOf(row)) : null,
      })),
      focus,
      tokenOf,
      indexed: readIndexed(page),
      next: last === undefined ? null : { position: placeOf(last), upperBound: query.pinnedBlock ?? newest },
    };
  });
}

export interface SwapsSources extends Pick<SwapsReading, 'isSpread'> {
  readonly readDirect?: (wanted: ReadonlyMap<number, readonly Address[]>) => Promise<DirectPrices>;
}

function timeOf({ block_number: block, block: { block_timestamp } }: Pick<ListedSwap, 'block_number' | 'block'>) {
  return { block, time: Date.parse(block_timestamp) / 1_000 };
}

function placeOf({ block_number, transaction_index, log_index }: SwapPlace): SwapPlace {
  return { block_number, transaction_index, log_index };
}
