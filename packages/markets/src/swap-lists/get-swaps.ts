import type { Chain } from '@chainstead/chains';
import type { Address, Fraction } from '@chainstead/core';
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
import { readEtherQuote } from '@chainstead/price-feeds';
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
  /** US dollars per ether at the place of the swap; null: unknown. */
  readonly ether: Fraction | null;
}

export interface SwapsPage {
  /** At most `query.limit`, in order. */
  readonly swaps: readonly ListedSwap[];
  tokenOf(token: Address): TokenFacts;
  readonly indexed: Indexed;
  /** Position and highest block of the run for the next page; null on the last page. */
  readonly next: { readonly position: SwapPlace; readonly upperBound: number } | null;
}

/**
 * Returns a page of swaps with their blocks and tokens, in one statement.
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
    return {
      swaps: rows.slice(0, query.limit).map((row) => ({ ...row, block: blockOf(row), ether: etherOf(row, chain) })),
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

function etherOf({ ether_value: value, ether_source: source }: RowOf<typeof SWAPS>, chain: Chain): Fraction | null {
  return readEtherQuote(chain, { value, source: source === null ? null : Number(source) });
}

function placeOf({ block_number, transaction_index, log_index }: SwapPlace): SwapPlace {
  return { block_number, transaction_index, log_index };
}
