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
import {
  SWAPS,
  type SwapPlace,
  type SwapsQuery,
  type SwapsReading,
  swapsStatement,
  type TokenEntry,
} from './swaps-statement.ts';
import { type TokenFacts, tokenBook } from './token-facts.ts';

/** One swap or liquidity change of a page, with its block. */
export interface ListedSwap extends RowOf<typeof SWAPS> {
  readonly block: PageBlock;
}

export interface SwapsPage {
  /** At most `query.limit`, in order. */
  readonly swaps: readonly ListedSwap[];
  tokenOf(token: Address): TokenFacts;
  /** Prices of anchors in the blocks of the swaps. */
  readonly anchorUsd: AnchorBook;
  readonly indexed: Indexed;
  /** Position and highest block of the run for the next page; null on the last page. */
  readonly next: { readonly position: SwapPlace; readonly upperBound: number } | null;
}

/**
 * Returns a page of swaps with their blocks and tokens, in one statement, and the prices of their anchors, in one statement per anchor.
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
    const swaps = rows.slice(0, query.limit).map((row) => ({ ...row, block: blockOf(row) }));
    const tokens = swaps.flatMap(({ token0, token1 }) => [token0 ?? [], token1 ?? []]).flat();
    return {
      swaps,
      anchorUsd: await readAnchorBook(database, chain, tokens, swaps.map(timeOf)),
      tokenOf: tokenBook(page.tokens ?? [], chain),
      indexed: readIndexed(page),
      next: last === undefined ? null : { position: placeOf(last), upperBound: query.pinnedBlock ?? newest },
    };
  });
}

/** The only row of the statement. */
interface PageRow extends IndexedColumns, PackedTexts {
  readonly blocks: string | null;
  readonly tokens: readonly TokenEntry[] | null;
}

/** The block of a swap, for the prices of anchors. */
export function timeOf({ block_number: block, block: { block_timestamp } }: ListedSwap): BlockTime {
  return { block, time: Date.parse(block_timestamp) / 1_000 };
}

function placeOf({ block_number, transaction_index, log_index }: SwapPlace): SwapPlace {
  return { block_number, transaction_index, log_index };
}
