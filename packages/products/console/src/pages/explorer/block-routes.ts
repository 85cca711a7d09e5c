import type { Chain } from '@chainstead/chains';
import { NotFoundError } from '@chainstead/http';
import { html } from 'hono/html';
import { BLOCK_LISTS } from '../../block-rows/read-block-rows.ts';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import { cut, type Html } from '../../layout/html.ts';
import { plainCount } from '../../layout/numbers.ts';
import { blockFactsView, blockIn, hashIn, isKnown, placeIn, readBlockFacts } from './blocks/block-facts.ts';
import { blockList, blockLists } from './blocks/block-lists.ts';
import { fullView, readFull } from './full/full-view.ts';
import { BLOCK } from './full/records.ts';
import { chainLinks, chainNamed, chainsRequested, placeOn } from './subjects/choose-chain.ts';
import { rpcCurlView } from './tables/table-view.ts';

const CHAINS_SHOWN = 3;
const ROWS_OF_PAGE = 50;
const PATIENCE_MS = 4_000;

export function addBlockRoutes(routes: ConsoleRoutes, { database, explorer, registry }: ConsoleServices): void {
  const choice = { registry, chains: explorer.chains };

  routes.view('/look-up/block/:number', async (request) => {
    const number = blockIn(request.parameter('number'));
    const chains = chainsRequested(choice, request.query('chain'));
    const facts = await Promise.all(chains.map((chain) => readBlockFacts(database, chain, number)));
    const isChosen = request.query('chain') !== undefined;
    const known = isChosen ? facts : facts.filter(isKnown);
    const sections = await Promise.all(
      known.slice(0, CHAINS_SHOWN).map(async (one) => {
        const { chain } = one;
        return html`<section aria-labelledby="on-${chain.key}"><h2 id="on-${chain.key}">${chain.key}</h2>${blockFactsView(one)}
${await wholeOf(request, chain, number)}
<h3>Rows</h3>
${await blockLists(explorer, { chain, block: number, transaction: null, origin: request.origin })}
${rpcCurlView(chain, request.origin, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])}</section>`;
      }),
    );
    const links = {
      chosen: isChosen ? (chains[0]?.key ?? null) : null,
      found: known.map(({ chain }) => chain.key),
      all: explorer.chains.map(({ key }) => key),
    };
    return {
      title: `Block ${plainCount(number)}`,
      body: html`<h1>Block ${plainCount(number)}</h1>
${chainLinks(`/console/look-up/block/${number}`, links)}
${known.length === 0 && html`<p>No block with this number is indexed on any of these chains.</p>`}${sections}`,
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
    const chain = chainNamed(choice, query('chain') ?? '');
    const block = blockIn(query('block') ?? '');
    const given = query('transaction');
    const of = { chain, block, transaction: given === undefined ? null : hashIn(given), origin };
    const page = { after: placeIn(query('after')), limit: ROWS_OF_PAGE };
    return {
      title: 'Rows of a block',
      body: html`<h1><a href="/console/look-up/block/${block}?chain=${chain.key}">Block ${plainCount(block)}</a> of ${chain.key}</h1>
<h2>${given === undefined ? 'All transactions' : html`Transaction <code>${of.transaction}</code>`}</h2>
${await blockList(explorer, list, of, page)}`,
    };
  });
}
