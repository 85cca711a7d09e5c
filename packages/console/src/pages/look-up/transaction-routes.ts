import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices, PageRequest } from '../../console-page.ts';
import { plainCount } from '../../layout/numbers.ts';
import { blockFactsView, readBlockFacts } from './blocks/block-facts.ts';
import { blockLists } from './blocks/block-lists.ts';
import { blockIn, hashIn } from './blocks/block-parameters.ts';
import { chainNamed, placeOn } from './subjects/choose-chain.ts';
import { textAt } from './tables/cells.ts';
import { rpcCurlView } from './tables/rpc-curl-view.ts';
import { readWhole, type WholeAnswer } from './whole/read-whole.ts';
import { TRANSACTION } from './whole/transaction-record.ts';
import { wholeView } from './whole/whole-view.ts';

/** Of a page that has more to show. Milliseconds. */
const PATIENCE_MS = 4_000;

/** What a transaction is, as the API reads it from a node, and what is indexed of it. Who knows its block says it; else a node is asked. */
export function addTransactionRoutes(routes: ConsoleRoutes, { database, lookUp, registry }: ConsoleServices): void {
  routes.view('/look-up/transaction/:hash', async (request) => {
    const transaction = hashIn(request.parameter('hash'));
    const chain = chainOf(request);
    const given = request.query('block');
    const subject = { chain: chain.key, of: transaction };
    const [place, whole] = await Promise.all([
      given === undefined
        ? lookUp.placeOf(chain, transaction)
        : ({ kind: 'transaction', blockNumber: blockIn(given) } as const),
      readWhole(lookUp.data, request.asker, TRANSACTION, subject, PATIENCE_MS),
    ]);
    const block = place?.kind === 'transaction' ? place.blockNumber : blockOf(whole);
    const { origin } = request;
    const of = { chain, block: block ?? 0, transaction, origin };
    const rows =
      block === null
        ? html`<p>${place === undefined ? 'No node told in time in which block it is.' : `No node of ${chain.key} has it in a block.`}</p>`
        : html`<h2>Rows of it</h2>
${await blockLists(lookUp, of)}
<h2>Its block</h2>
<p><a href="/console/look-up/block/${block}?chain=${chain.key}">Block ${plainCount(block)}</a> of ${chain.key}</p>
${blockFactsView(await readBlockFacts(database, chain, block))}`;
    return {
      title: `Transaction ${transaction}`,
      body: html`<h1>Transaction <code>${transaction}</code></h1>
<p>On ${chain.key}</p>
${wholeView(TRANSACTION, whole, { ...subject, place: placeOn(chain), origin })}
${rows}
${rpcCurlView(chain, origin, 'eth_getTransactionReceipt', [transaction])}`,
    };
  });

  /** Where one chain is indexed, nobody has to say which. @throws InvalidParameterError */
  function chainOf({ query }: PageRequest) {
    const [only, ...others] = lookUp.chains;
    const name = query('chain') ?? (others.length === 0 ? only?.key : undefined);
    return chainNamed({ registry, chains: lookUp.chains }, name ?? '');
  }
}

function blockOf(whole: WholeAnswer): number | null {
  const told = whole.kind === 'record' ? textAt(whole.body, 'block_number') : null;
  return told === null ? null : blockIn(told);
}
