import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { html } from 'hono/html';
import {
  BLOCK_LISTS,
  type BlockList,
  type BlockRows,
  type RowPlace,
  readBlockRows,
} from '../../../block-rows/read-block-rows.ts';
import type { Html } from '../../../layout/html.ts';
import type { ExplorerServices } from '../explorer-services.ts';
import { placeOn } from '../subjects/choose-chain.ts';
import { account, type CellPlace, type Column, contract, nft, nfts, text, transaction } from '../tables/cells.ts';
import { curlLine, curlView, rowsView } from '../tables/table-view.ts';

interface RowsOf {
  readonly chain: Chain;
  readonly block: number;
  readonly transaction: Hash | null;
  readonly origin: string;
}

const ROWS = 10;

export async function blockLists(explorer: ExplorerServices, of: RowsOf): Promise<readonly Html[]> {
  return Promise.all(BLOCK_LISTS.map((list) => blockList(explorer, list, of, { after: null, limit: ROWS })));
}

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
  const whole = transaction === null ? `block/${block}` : `transaction/${transaction}/verbose`;
  return blockListView(list, found, {
    place: placeOn(chain),
    block,
    curl: curlLine(origin, `/api/v2.2/${whole}?chain=${chain.key}`),
    more: next === null ? null : more(next),
  });
}

const TITLES: Readonly<Record<BlockList, string>> = {
  erc20_transfers: 'ERC-20 transfers',
  nft_transfers: 'NFT transfers',
  nft_trades: 'NFT trades',
};

const COLUMNS: Readonly<Record<BlockList, readonly Column[]>> = {
  erc20_transfers: [
    { title: 'Log', cell: text('log_index'), isNumber: true },
    { title: 'Token', cell: contract('token_address', 'token_symbol') },
    { title: 'From', cell: account('from_address') },
    { title: 'To', cell: account('to_address') },
    { title: 'Amount', cell: text('amount'), isNumber: true },
    { title: 'Base units', cell: text('base_units'), isNumber: true },
    { title: 'Transaction', cell: transaction() },
  ],
  nft_transfers: [
    { title: 'Log', cell: text('log_index'), isNumber: true },
    { title: 'NFT', cell: nft('token_address', 'token_id') },
    { title: 'Collection', cell: contract('token_address', 'collection_name') },
    { title: 'From', cell: account('from_address') },
    { title: 'To', cell: account('to_address') },
    { title: 'Amount', cell: text('amount'), isNumber: true },
    { title: 'Transaction', cell: transaction() },
  ],
  nft_trades: [
    { title: 'Log', cell: text('log_index'), isNumber: true },
    { title: 'NFTs', cell: nfts('token_address', 'token_ids') },
    { title: 'Collection', cell: contract('token_address', 'collection_name') },
    { title: 'Seller', cell: account('seller') },
    { title: 'Buyer', cell: account('buyer') },
    { title: 'Price', cell: text('price'), isNumber: true },
    { title: 'Paid in', cell: text('payment_symbol') },
    { title: 'Transaction', cell: transaction() },
  ],
};

interface BlockListContext {
  readonly place: CellPlace;
  readonly block: number;
  readonly curl: string;
  readonly more: string | null;
}

function blockListView(
  list: BlockList,
  { rows, sql }: BlockRows,
  { place, block, curl, more }: BlockListContext,
): Html {
  const title = TITLES[list];
  const columns = COLUMNS[list];
  const id = `${place.chain}-${list}`;
  const placed = rows.map((row) => ({ ...row, block_number: block }));
  return html`<section aria-labelledby="${id}"><h3 id="${id}">${title}</h3>
${rows.length === 0 ? html`<p class="soft">No rows.</p>` : rowsView({ title, columns }, placed, place)}
${more !== null && html`<p><a href="${more}" rel="next">More</a></p>`}
${curlView(curl, 'API request (whole record)')}
<details class="curl"><summary>SQL for these rows</summary><pre tabindex="0"><code>${sql}</code></pre></details></section>`;
}
