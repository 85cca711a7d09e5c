import { InvalidParameterError, NotFoundError } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import { cut } from '../../layout/html.ts';
import { plainCount } from '../../layout/numbers.ts';
import { blockFactsView, blockIn, hashIn, readBlockFacts } from './blocks/block-facts.ts';
import { blockLists } from './blocks/block-lists.ts';
import { fullView, partView, readFull } from './full/full-view.ts';
import { BLOCK, TRANSACTION } from './full/records.ts';
import { chainNamed, placeOn } from './subjects/choose-chain.ts';
import { textAt } from './tables/cells.ts';
import { rpcCurlView } from './tables/table-view.ts';

const PATIENCE_MS = 4_000;

/** Links include the block if it is known; otherwise a node is called. */
export function addTransactionRoutes(routes: ConsoleRoutes, { database, explorer, registry }: ConsoleServices): void {
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
    const rows =
      block === null
        ? html`<p>${place === undefined ? 'No node returned its block in time.' : `No node of ${chain.key} has it in a block.`}</p>`
        : html`<h2>Rows</h2>
${await blockLists(explorer, of)}
<h2>Block</h2>
<p><a href="/console/look-up/block/${block}?chain=${chain.key}">Block ${plainCount(block)}</a> of ${chain.key}</p>
${blockFactsView(await readBlockFacts(database, chain, block))}`;
    return {
      title: `Transaction ${transaction}`,
      body: html`<h1>Transaction <code>${transaction}</code></h1>
<p>On ${chain.key}</p>
${fullView(TRANSACTION, whole, { ...subject, place: placeOn(chain), origin })}
${rows}
${rpcCurlView(chain, origin, 'eth_getTransactionReceipt', [transaction])}`,
    };
  });

  /** Optional with one indexed chain. @throws InvalidParameterError */
  function chainOf({ query }: ConsoleRequest) {
    const [only, ...others] = explorer.chains;
    const name = query('chain') ?? (others.length === 0 ? only?.key : undefined);
    return chainNamed({ registry, chains: explorer.chains }, name ?? '');
  }
}

const ROWS = 50;
const LIST_PATIENCE_MS = 60_000;

export function addFullRoutes(routes: ConsoleRoutes, { explorer, registry }: ConsoleServices): void {
  routes.view('/look-up/whole/:record/:part', async ({ parameter, query, origin, asker }) => {
    const record = [TRANSACTION, BLOCK].find(({ name }) => name === parameter('record'));
    const part = record?.parts.find(({ name }) => name === parameter('part'));
    if (record === undefined || part === undefined)
      throw new NotFoundError(`There is no list ${cut(parameter('part'), 40)}`);
    const chain = chainNamed({ registry, chains: explorer.chains }, query('chain') ?? '');
    const given = query('of') ?? '';
    const of = record === BLOCK ? String(blockIn(given)) : hashIn(given);
    const start = query('from') ?? '0';
    if (!/^\d{1,9}$/.test(start))
      throw new InvalidParameterError({ parameter: 'from', given: cut(start), allowed: 'a whole number' });
    const from = Number(start);
    const subject = { chain: chain.key, of };
    const answer = await readFull(explorer.data, asker, record, subject, LIST_PATIENCE_MS);
    const own = record === BLOCK ? `block/${of}` : `transaction/${of}`;
    const context = { ...subject, place: placeOn(chain), origin };
    return {
      title: part.title,
      body: html`<h1><a href="/console/look-up/${own}?chain=${chain.key}">${record === BLOCK ? 'Block' : 'Transaction'} <code>${of}</code></a> of ${chain.key}</h1>
${partView(record, part, answer, { context, from, rowsMax: ROWS })}`,
    };
  });
}
