import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices, PageRequest } from '../../console-page.ts';
import { plainCount } from '../../layout/numbers.ts';
import { blockFactsView, readBlockFacts } from './blocks/block-facts.ts';
import { blockLists } from './blocks/block-lists.ts';
import { blockIn, hashIn } from './blocks/block-parameters.ts';
import { chainNamed } from './subjects/choose-chain.ts';
import { curlLine } from './tables/curl-line.ts';
import { rpcCurlView } from './tables/rpc-curl-view.ts';
import { curlView } from './tables/table-view.ts';

/** What is indexed of a transaction. Who knows its block says it; else a node is asked. */
export function addTransactionRoutes(routes: ConsoleRoutes, { database, lookUp, registry }: ConsoleServices): void {
  routes.view('/look-up/transaction/:hash', async (request) => {
    const transaction = hashIn(request.parameter('hash'));
    const chain = chainOf(request);
    const given = request.query('block');
    const place =
      given === undefined
        ? await lookUp.placeOf(chain, transaction)
        : { kind: 'transaction', blockNumber: blockIn(given) };
    const block = place?.kind === 'transaction' ? place.blockNumber : null;
    const body =
      block === null
        ? html`<p>${place === undefined ? 'No node told in time in which block it is.' : `No node of ${chain.key} has it in a block.`}</p>`
        : html`<p>In block <a href="/console/look-up/block/${block}?chain=${chain.key}">${plainCount(block)}</a> of ${chain.key}.</p>
${blockFactsView(await readBlockFacts(database, chain, block))}
<h2>Rows</h2>
${await blockLists(lookUp, { chain, block, transaction, origin: request.origin })}`;
    return {
      title: `Transaction ${transaction}`,
      body: html`<h1>Transaction <code>${transaction}</code></h1>
${body}
${curlView(curlLine(request.origin, `/api/v2.2/transaction/${transaction}?chain=${chain.key}`), 'All of it from the API')}
${rpcCurlView(chain, request.origin, 'eth_getTransactionReceipt', [transaction])}`,
    };
  });

  /** Where one chain is indexed, nobody has to say which. @throws InvalidParameterError */
  function chainOf({ query }: PageRequest) {
    const [only, ...others] = lookUp.chains;
    const name = query('chain') ?? (others.length === 0 ? only?.key : undefined);
    return chainNamed({ registry, chains: lookUp.chains }, name ?? '');
  }
}
