import { type AptosNetwork, chainKeyOf } from '@chainstead/aptos';
import { InvalidParameterError } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import { cut, type Html } from '../../layout/html.ts';
import { chainLinks, networkNamed } from './subjects/choose-chain.ts';
import { wholeAptosAddress } from './subjects/read-subject.ts';
import { APTOS_TABLES } from './tables/aptos-tables.ts';
import { readTableWithin } from './tables/read-table.ts';
import { tableAddress, tableView } from './tables/table-view.ts';

const ADDRESS = /^0x[0-9a-f]{1,64}$/i;
const ROWS = 10;
const PATIENCE_MS = 4_000;

export function addAptosRoutes(routes: ConsoleRoutes, { explorer }: ConsoleServices): void {
  routes.view('/look-up/aptos/:address', async (request) => {
    const given = request.parameter('address');
    if (!ADDRESS.test(given))
      throw new InvalidParameterError({ parameter: 'address', given: cut(given), allowed: '0x and up to 64 digits' });
    const address = wholeAptosAddress(given);
    const named = request.query('chain');
    const networks = named === undefined ? explorer.networks : [networkNamed(explorer.networks, named)];
    const sections = await Promise.all(networks.map((network) => sectionOf(request, network, address)));
    const own = `/console/look-up/aptos/${address}`;
    const all = explorer.networks.map(chainKeyOf);
    return {
      title: `Aptos ${address}`,
      body: html`<h1>Aptos account <code>${address}</code></h1>
${all.length > 1 && chainLinks(own, { chosen: named ?? null, found: all, all })}
${networks.length === 0 && html`<p>No Aptos network is indexed here.</p>`}${sections}`,
    };
  });

  async function sectionOf({ origin, asker }: ConsoleRequest, network: AptosNetwork, address: string): Promise<Html> {
    const chain = chainKeyOf(network);
    const of = { chain, address, tokenId: null };
    const tables = await Promise.all(
      APTOS_TABLES.map(async (table) => {
        const answer = await readTableWithin(PATIENCE_MS, explorer.data, asker, table, {
          of,
          limit: ROWS,
          cursor: null,
        });
        const more = (cursor: string | null): string => tableAddress(table, of, cursor);
        return tableView(table, answer, { of, place: { chain, coin: null }, origin, more });
      }),
    );
    return html`<section aria-labelledby="on-${chain}"><h2 id="on-${chain}">${chain}</h2>${tables}</section>`;
  }
}
