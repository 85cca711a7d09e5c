import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { NotFoundError } from '@chainstead/http';
import { knownBlock } from '@chainstead/node-reads/requests';
import { listCoverage } from '@chainstead/sync/requests';
import { html } from 'hono/html';
import { BLOCK_LISTS, type BlockList, type RowPlace, readBlockRows } from '../../block-rows/read-block-rows.ts';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices, ExplorerServices } from '../../console-page.ts';
import {
  code,
  cut,
  dash,
  type Html,
  nameParts,
  nextLink,
  paragraph,
  record,
  refused,
  section,
  shown,
} from '../../layout/html.ts';
import { moment, plainCount } from '../../layout/numbers.ts';
import { table } from '../../layout/table.ts';
import { meaningOf } from '../overview/coverage-strip.ts';
import { BLOCK, fullView, partView, readFull, TRANSACTION } from './full-record.ts';
import { blockIn, chainLinks, chainNamed, chainsRequested, hashIn, placeOn } from './subjects.ts';
import { account, type Column, contract, nft, nfts, text, textAt, transaction } from './tables/cells.ts';
import { curlLine, curlView, rowsView, rpcCurlView } from './tables/data-table.ts';

const CHAINS_SHOWN = 3;
const ROWS = 10;
const ROWS_OF_PAGE = 50;
const PATIENCE_MS = 4_000;
const LIST_PATIENCE_MS = 60_000;
const PLACE = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;

export function addBlockRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { database, explorer } = services;

  routes.view('/look-up/block/:number', async (request) => {
    const number = blockIn(request.parameter('number'));
    const chains = chainsRequested(services, request.query('chain'));
    const facts = await Promise.all(chains.map((chain) => readBlockFacts(database, chain, number)));
    const isChosen = request.query('chain') !== undefined;
    const known = isChosen ? facts : facts.filter(isKnown);
    const sections = await Promise.all(
      known.slice(0, CHAINS_SHOWN).map(async (one) => {
        const { chain } = one;
        return section(
          `on-${chain.key}`,
          chain.key,
          blockFactsView(one),
          await wholeOf(request, chain, number),
          html`<h3>Rows</h3>`,
          await blockLists(explorer, { chain, block: number, transaction: null, origin: request.origin }),
          rpcCurlView(chain, request.origin, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false]),
        );
      }),
    );
    const links = {
      chosen: isChosen ? (chains[0]?.key ?? null) : null,
      found: known.map(({ chain }) => chain.key),
      all: explorer.chains.map(({ key }) => key),
    };
    return {
      title: `Block ${plainCount(number)}`,
      body: html`${chainLinks(`/console/look-up/block/${number}`, links)}
${known.length === 0 && paragraph('No block with this number is indexed on any of these chains.')}${sections}`,
    };
  });

  async function wholeOf({ asker, origin }: ConsoleRequest, chain: Chain, number: number): Promise<Html> {
    const subject = { chain: chain.key, of: String(number) };
    const answer = await readFull(explorer.data, asker, BLOCK, subject, PATIENCE_MS);
    return fullView(BLOCK, answer, { ...subject, place: placeOn(chain), origin });
  }

  routes.view('/look-up/rows/:list', async ({ parameter, query, origin }) => {
    const list = BLOCK_LISTS.find((one) => one === parameter('list'));
    if (list === undefined) throw new NotFoundError(`There is no list ${cut(parameter('list'), 40)}`);
    const chain = chainNamed(services, query('chain'));
    const block = blockIn(query('block') ?? '');
    const given = query('transaction');
    const of = { chain, block, transaction: given === undefined ? null : hashIn(given), origin };
    const page = { after: placeIn(query('after')), limit: ROWS_OF_PAGE };
    return {
      title: 'Rows of a block',
      heading: blockTitle(chain, block),
      body: html`<h2>${given === undefined ? 'All transactions' : html`Transaction <code>${of.transaction}</code>`}</h2>
${await blockList(explorer, list, of, page)}`,
    };
  });
}

/** Links include the block if it is known; otherwise a node is called. */
export function addTransactionRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { database, explorer } = services;
  routes.view('/look-up/transaction/:hash', async (request) => {
    const transaction = hashIn(request.parameter('hash'));
    const chain = chainOf(request);
    const given = request.query('block');
    const subject = { chain: chain.key, of: transaction };
    const [place, whole] = await Promise.all([
      given === undefined
        ? explorer.placeOf(chain, transaction)
        : ({ kind: 'transaction', blockNumber: blockIn(given) } as const),
      readFull(explorer.data, request.asker, TRANSACTION, subject, PATIENCE_MS),
    ]);
    const reported = whole.kind === 'record' ? textAt(whole.body, 'block_number') : null;
    const reportedBlock = reported === null ? null : blockIn(reported);
    const block = place?.kind === 'transaction' ? place.blockNumber : reportedBlock;
    const { origin } = request;
    const of = { chain, block: block ?? 0, transaction, origin };
    const absent = `No upstream of ${chain.key} has it in a block.`;
    const rows =
      block === null
        ? html`<p>${place === undefined ? 'No upstream returned its block in time.' : absent}</p>`
        : html`<h2>Rows</h2>
${await blockLists(explorer, of)}
<h2>Block</h2>
<p>${blockTitle(chain, block)}</p>
${blockFactsView(await readBlockFacts(database, chain, block))}`;
    return {
      title: `Transaction ${transaction}`,
      heading: html`Transaction ${code(transaction)}`,
      body: html`<p>On ${chain.key}</p>
${fullView(TRANSACTION, whole, { ...subject, place: placeOn(chain), origin })}
${rows}
${rpcCurlView(chain, origin, 'eth_getTransactionReceipt', [transaction])}`,
    };
  });

  /** Optional with one indexed chain. @throws InvalidParameterError */
  function chainOf({ query }: ConsoleRequest) {
    const [only, ...others] = explorer.chains;
    const name = query('chain') ?? (others.length === 0 ? only?.key : undefined);
    return chainNamed(services, name);
  }
}

export function addFullRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { explorer } = services;
  routes.view('/look-up/whole/:record/:part', async ({ parameter, query, origin, asker }) => {
    const record = [TRANSACTION, BLOCK].find(({ name }) => name === parameter('record'));
    const part = record?.parts.find(({ name }) => name === parameter('part'));
    if (record === undefined || part === undefined)
      throw new NotFoundError(`There is no list ${cut(parameter('part'), 40)}`);
    const chain = chainNamed(services, query('chain'));
    const given = query('of') ?? '';
    const of = record === BLOCK ? String(blockIn(given)) : hashIn(given);
    const start = query('from') ?? '0';
    if (!/^\d{1,9}$/.test(start)) throw refused('from', start, 'a whole number');
    const from = Number(start);
    const subject = { chain: chain.key, of };
    const answer = await readFull(explorer.data, asker, record, subject, LIST_PATIENCE_MS);
    const [own, kind] = record === BLOCK ? [`block/${of}`, 'Block'] : [`transaction/${of}`, 'Transaction'];
    const context = { ...subject, place: placeOn(chain), origin };
    return {
      title: part.title,
      heading: html`<a href="/console/look-up/${own}?chain=${chain.key}">${kind} ${code(of)}</a> of ${chain.key}`,
      body: partView(record, part, answer, { context, from, rowsMax: ROWS_OF_PAGE }),
    };
  });
}

function blockTitle({ key }: Chain, block: number): Html {
  return html`<a href="/console/look-up/block/${block}?chain=${key}">Block ${plainCount(block)}</a> of ${key}`;
}

function placeIn(text: string | undefined): RowPlace | null {
  if (text === undefined) return null;
  const [, transactionIndex, logIndex, item] = PLACE.exec(text) ?? [];
  if (item === undefined) throw refused('after', text, 'the cursor of a link on the page');
  return { transactionIndex: Number(transactionIndex), logIndex: Number(logIndex), item: Number(item) };
}

type BlockFacts = Awaited<ReturnType<typeof readBlockFacts>>;

async function readBlockFacts(database: Database, chain: Chain, number: number) {
  // Null: header not stored. In backfilled history, only blocks with rows have one.
  const [block, coverage] = await Promise.all([
    knownBlock(database, chain, number),
    listCoverage(database, chain.id, { from: number, to: number }),
  ]);
  return { chain, block, coverage };
}

function isKnown({ block, coverage }: BlockFacts): boolean {
  return block !== null || coverage.length > 0;
}

function blockFactsView({ block, coverage }: BlockFacts): Html {
  const rows = coverage.map(({ dataset, proof, reason }) => [
    nameParts(dataset),
    html`${meaningOf(proof)}${reason !== null && html`: ${shown(reason)}`}`,
  ]);
  const list = table({
    label: 'Proof',
    columns: ['Dataset', 'Proof'],
    none: 'No dataset covers this block.',
    rows,
  });
  return html`${record([
    ['Hash', block === null ? 'not stored: the block has no rows or is not indexed' : code(block.hash)],
    ['Time', dash(block, ({ timestamp }) => moment(new Date(timestamp * 1_000)))],
  ])}
${rows.length === 0 ? list : html`<details><summary>Proof by dataset</summary>${list}</details>`}`;
}

interface RowsOf {
  readonly chain: Chain;
  readonly block: number;
  readonly transaction: Hash | null;
  readonly origin: string;
}

async function blockLists(explorer: ExplorerServices, of: RowsOf): Promise<readonly Html[]> {
  return Promise.all(BLOCK_LISTS.map((list) => blockList(explorer, list, of, { after: null, limit: ROWS })));
}

async function blockList(
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
  const id = `${chain.key}-${list}`;
  const rows = found.rows.map((row) => ({ ...row, blockNumber: block }));
  return html`<section aria-labelledby="${id}"><h3 id="${id}">${TITLES[list]}</h3>
${rowsView({ title: TITLES[list], columns: COLUMNS[list], none: 'No rows.' }, rows, placeOn(chain))}
${nextLink(next && more(next), 'More')}
${curlView(curlLine(origin, `/api/v2.2/${whole}?chain=${chain.key}`), 'API request (whole record)')}
${curlView(found.sql, 'SQL for these rows')}</section>`;
}

const TITLES: Readonly<Record<BlockList, string>> = {
  erc20_transfers: 'ERC-20 transfers',
  nft_transfers: 'NFT transfers',
  nft_trades: 'NFT trades',
};

const COLUMNS: Readonly<Record<BlockList, readonly Column[]>> = {
  erc20_transfers: [
    ['Log', text('logIndex'), 'number'],
    ['Token', contract('tokenAddress', 'tokenSymbol')],
    ['From', account('fromAddress')],
    ['To', account('toAddress')],
    ['Amount', text('amount'), 'number'],
    ['Base units', text('baseUnits'), 'number'],
    ['Transaction', transaction('transactionHash', 'blockNumber')],
  ],
  nft_transfers: [
    ['Log', text('logIndex'), 'number'],
    ['NFT', nft('tokenAddress', 'tokenId')],
    ['Collection', contract('tokenAddress', 'collectionName')],
    ['From', account('fromAddress')],
    ['To', account('toAddress')],
    ['Amount', text('amount'), 'number'],
    ['Transaction', transaction('transactionHash', 'blockNumber')],
  ],
  nft_trades: [
    ['Log', text('logIndex'), 'number'],
    ['NFTs', nfts('tokenAddress', 'tokenIds')],
    ['Collection', contract('tokenAddress', 'collectionName')],
    ['Seller', account('seller')],
    ['Buyer', account('buyer')],
    ['Price', text('price'), 'number'],
    ['Paid in', text('paymentSymbol')],
    ['Transaction', transaction('transactionHash', 'blockNumber')],
  ],
};
