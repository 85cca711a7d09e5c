import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices, PageRequest } from '../../console-page.ts';
import { plainCount } from '../../layout/numbers.ts';
import { blockFactsView, readBlockFacts } from './blocks/block-facts.ts';
import { blockLists } from './blocks/block-lists.ts';
import { blockIn, hashIn } from './blocks/block-parameters.ts';
import { fullView } from './full/full-view.ts';
import { type FullAnswer, readFull } from './full/read-full.ts';
import { TRANSACTION } from './full/transaction-record.ts';
import { chainNamed, placeOn } from './subjects/choose-chain.ts';
import { textAt } from './tables/cells.ts';
import { rpcCurlView } from './tables/rpc-curl-view.ts';

/** Timeout on a page with other content to show. Milliseconds. */
const PATIENCE_MS = 4_000;

/**
 * Adds the page of a transaction, read from a node through the API, and of its indexed data. Links include its block if
 * it is known; otherwise a node is called.
 */
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
    const block = place?.kind === 'transaction' ? place.blockNumber : blockOf(whole);
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

  /** With one indexed chain, the parameter is optional. @throws InvalidParameterError */
  function chainOf({ query }: PageRequest) {
    const [only, ...others] = explorer.chains;
    const name = query('chain') ?? (others.length === 0 ? only?.key : undefined);
    return chainNamed({ registry, chains: explorer.chains }, name ?? '');
  }
}

function blockOf(whole: FullAnswer): number | null {
  const reported = whole.kind === 'record' ? textAt(whole.body, 'block_number') : null;
  return reported === null ? null : blockIn(reported);
}
