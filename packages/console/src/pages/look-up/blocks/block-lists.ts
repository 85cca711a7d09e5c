import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { BLOCK_LISTS, type BlockList, type RowPlace, readBlockRows } from '@chainstead/datasets';
import type { Html } from '../../../layout/html.ts';
import type { LookUpServices } from '../look-up-services.ts';
import { placeOn } from '../subjects/choose-chain.ts';
import { curlLine } from '../tables/curl-line.ts';
import { blockListView } from './block-list-view.ts';

/** Whose rows: of a block, or of one transaction in it. */
export interface RowsOf {
  readonly chain: Chain;
  readonly block: number;
  readonly transaction: Hash | null;
  /** Of this server, for the line that asks the API. */
  readonly origin: string;
}

const ROWS = 10;

/** The beginnings of all lists. */
export async function blockLists(lookUp: LookUpServices, of: RowsOf): Promise<readonly Html[]> {
  return Promise.all(BLOCK_LISTS.map((list) => blockList(lookUp, list, of, { after: null, limit: ROWS })));
}

/** One page of a list, with the address of the next. */
export async function blockList(
  { reads }: LookUpServices,
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
  // The API tells a transaction or a block whole.
  const whole = transaction === null ? `block/${block}` : `transaction/${transaction}/verbose`;
  return blockListView(list, found, {
    place: placeOn(chain),
    block,
    curl: curlLine(origin, `/api/v2.2/${whole}?chain=${chain.key}`),
    more: next === null ? null : more(next),
  });
}
