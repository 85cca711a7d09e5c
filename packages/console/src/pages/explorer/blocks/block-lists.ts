import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { BLOCK_LISTS, type BlockList, type RowPlace, readBlockRows } from '@chainstead/datasets';
import type { Html } from '../../../layout/html.ts';
import type { ExplorerServices } from '../explorer-services.ts';
import { placeOn } from '../subjects/choose-chain.ts';
import { curlLine } from '../tables/curl-line.ts';
import { blockListView } from './block-list-view.ts';

/** The subject of the rows: a block, or one transaction in it. */
export interface RowsOf {
  readonly chain: Chain;
  readonly block: number;
  readonly transaction: Hash | null;
  /** This server's origin, for the API request line. */
  readonly origin: string;
}

const ROWS = 10;

/** Returns the first rows of all lists. */
export async function blockLists(explorer: ExplorerServices, of: RowsOf): Promise<readonly Html[]> {
  return Promise.all(BLOCK_LISTS.map((list) => blockList(explorer, list, of, { after: null, limit: ROWS })));
}

/** Returns one page of a list, with the URL of the next. */
export async function blockList(
  { reads }: ExplorerServices,
  list: BlockList,
  { chain, block, transaction, origin }: RowsOf,
  page: { readonly after: RowPlace | null; readonly limit: number },
): Promise<Html> {
  const found = await readBlockRows(reads, list, { chainId: chain.id, blockNumber: block, transaction, ...page });
  const { next } = found;
  const more = (after: RowPlace): string =>
    `/console/look-up/rows/${list}?${new URLSearchParams({
      chain: chain.key,
      block: String(block),
      ...(transaction !== null && { transaction }),
      after: [after.transactionIndex, after.logIndex, after.item].join('.'),
    })}`;
  // The API returns a transaction or a block whole.
  const whole = transaction === null ? `block/${block}` : `transaction/${transaction}/verbose`;
  return blockListView(list, found, {
    place: placeOn(chain),
    block,
    curl: curlLine(origin, `/api/v2.2/${whole}?chain=${chain.key}`),
    more: next === null ? null : more(next),
  });
}
