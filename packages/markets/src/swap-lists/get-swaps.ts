import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  type Indexed,
  type IndexedColumns,
  type PageBlock,
  readBlocks,
  readConsistentPage,
  readIndexed,
} from '@chainstead/data-api';
import type { ReadDatabase } from '@chainstead/db';
import { type PackedTexts, type RowOf, readPackedPage } from '@chainstead/db/packed-rows';
import { type AnchorBook, type BlockTime, readAnchorBook } from '../anchors/anchor-steps.ts';
import { anchorsOf } from '../anchors/anchors-of-chain.ts';
import { readSubCategories, type SubCategory } from './sub-category.ts';
import { type SwapSides, sidesOf } from './swap-sides.ts';
import {
  formsOf,
  SWAPS,
  type SwapPlace,
  type SwapsQuery,
  type SwapsReading,
  type SwapsSubject,
  swapsStatement,
  type TokenEntry,
} from './swaps-statement.ts';
import { type TokenFacts, tokenBook } from './token-facts.ts';

/** One swap or liquidity change of a page, with its block. */
export interface ListedSwap extends RowOf<typeof SWAPS> {
  readonly block: PageBlock;
  /** By base and quote token; null: a token is unknown. */
  readonly sides: SwapSides | null;
  readonly subCategory: SubCategory | null;
}

export interface SwapsPage {
  /** At most `query.limit`, in order. */
  readonly swaps: readonly ListedSwap[];
  /** Forms of the token from whose view swaps are purchases or sales; empty: the base token of each pool. */
  readonly focus: readonly Address[];
  tokenOf(token: Address): TokenFacts;
  /** Prices of anchors in the blocks of the swaps. */
  readonly anchorUsd: AnchorBook;
  readonly indexed: Indexed;
  /** Position and highest block of the run for the next page; null on the last page. */
  readonly next: { readonly position: SwapPlace; readonly upperBound: number } | null;
}

/**
 * Returns a page of swaps with their blocks and tokens, in one statement. The prices of their anchors take one statement per anchor, and the
 * balances of traders three.
 * @throws {InconsistentPageError} if a swap repeatedly comes without its block
 */
export function getSwaps(
  database: ReadDatabase,
  chain: Chain,
  query: SwapsQuery,
  reading: Omit<SwapsReading, 'select'> = {},
): Promise<SwapsPage> {
  return readConsistentPage(async () => {
    const { rows, page } = await readPackedPage<RowOf<typeof SWAPS>, PageRow>(database, SWAPS, (select) =>
      swapsStatement(chain, query, { ...reading, select }),
    );
    const blockOf = readBlocks(page.blocks, rows);
    const last = rows.length > query.limit ? rows[query.limit - 1] : undefined;
    const newest = Math.max(page.indexed_to ?? 0, ...rows.map(({ block_number }) => block_number));
    const tokenOf = tokenBook(page.tokens ?? [], chain);
    const anchors = anchorsOf(chain);
    const found = rows
      .slice(0, query.limit)
      .map((row) => ({ ...row, block: blockOf(row), sides: sidesOf(row, tokenOf, anchors) }));
    const tokens = found.flatMap(({ token0, token1 }) => [token0 ?? [], token1 ?? []]).flat();
    const focus = focusOf(query.subject, chain);
    const [anchorUsd, subCategories] = await Promise.all([
      readAnchorBook(database, chain, tokens, found.map(timeOf)),
      readSubCategories(database, chain, found, { focus, isSpread: reading.isSpread ?? false }),
    ]);
    return {
      swaps: found.map((row, index) => ({ ...row, subCategory: subCategories[index] ?? null })),
      focus,
      anchorUsd,
      tokenOf,
      indexed: readIndexed(page),
      next: last === undefined ? null : { position: placeOf(last), upperBound: query.pinnedBlock ?? newest },
    };
  });
}

function focusOf(subject: SwapsSubject, chain: Chain): readonly Address[] {
  return subject.kind === 'pair' || subject.token === null ? [] : formsOf(subject.token, chain);
}

/** The only row of the statement. */
interface PageRow extends IndexedColumns, PackedTexts {
  readonly blocks: string | null;
  readonly tokens: readonly TokenEntry[] | null;
}

/** The block of a swap, for the prices of anchors. */
export function timeOf({
  block_number: block,
  block: { block_timestamp },
}: Pick<ListedSwap, 'block_number' | 'block'>): BlockTime {
  return { block, time: Date.parse(block_timestamp) / 1_000 };
}

function placeOf({ block_number, transaction_index, log_index }: SwapPlace): SwapPlace {
  return { block_number, transaction_index, log_index };
}
