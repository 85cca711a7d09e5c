import type { Chain } from '@chainstead/chains';
import { isAddress, parseAddress } from '@chainstead/core';
import { InvalidParameterError } from '@chainstead/http';
import { normalName } from '@chainstead/names';
import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices, PageRequest } from '../../console-page.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { addressNamesView, readAddressNames } from './names/address-names.ts';
import { pricePlot } from './price-routes.ts';
import { chainLinks, chainsAsked, placeOn } from './subjects/choose-chain.ts';
import { type FoundAddress, findAddress } from './subjects/find-address.ts';
import { readTokenId } from './subjects/read-subject.ts';
import { ACCOUNT_TABLES, ACTIVITY_TABLES } from './tables/account-tables.ts';
import { COLLECTION_TABLES, NFT_TABLES, TOKEN_TABLES } from './tables/contract-tables.ts';
import type { DataTable, TableSubject } from './tables/data-table.ts';
import { readTableWithin, type TableAnswer } from './tables/read-table.ts';
import { tableAddress, tableView } from './tables/table-view.ts';

/** Of which all tables are shown at once; of the others, links. */
const CHAINS_SHOWN = 3;
/** Of each table, where several chains are shown. */
const ROWS_OF_SEVERAL = 5;
const ROWS_OF_ONE = 10;
/** For a table, on a page of many: what has to be counted first, or asked of nodes, may take longer. Milliseconds. */
const PATIENCE_MS = 4_000;

/** Pages of what an address of EVM chains is, and of one NFT: all of its tables. */
export function addAddressRoutes(routes: ConsoleRoutes, { lookUp, registry, database, clock }: ConsoleServices): void {
  const choice = { registry, chains: lookUp.chains };
  const all = lookUp.chains.map(({ key }) => key);

  routes.view('/look-up/address/:address', async (request) => {
    const address = addressIn(request);
    const chains = chainsAsked(choice, request.query('chain'));
    const [found, names] = await Promise.all([
      findAddress(lookUp, request.asker, address, chains),
      readAddressNames({ data: lookUp.data, database, asker: request.asker }, address, {
        services: lookUp.nameServices,
        asked: normalName(request.query('name') ?? ''),
        timeMs: PATIENCE_MS,
      }),
    ]);
    const chosen = chains.length === 1 && request.query('chain') !== undefined ? (chains[0] ?? null) : null;
    // Who asks for a chain is told that nothing is there, table by table.
    const shownOn = found.length === 0 && chosen !== null ? [nothingOn(chosen)] : found;
    const limit = shownOn.length > 1 ? ROWS_OF_SEVERAL : ROWS_OF_ONE;
    const sections = await Promise.all(
      shownOn.slice(0, CHAINS_SHOWN).map(async (one) => {
        const of = { chain: one.chain.key, address, tokenId: null };
        return chainSection(one.chain, one.name, await tablesView(request, one.chain, tablesOf(one), of, limit));
      }),
    );
    const own = `/console/look-up/address/${address}`;
    const links = { chosen: chosen?.key ?? null, found: found.map(({ chain }) => chain.key), all };
    return {
      title: `Address ${address}`,
      body: html`<h1>Address <code>${address}</code></h1>
${addressNamesView(address, names, { origin: request.origin, chains: lookUp.chains, now: clock.now() })}
${chainLinks(own, links)}
${found.length === 0 ? html`<p>Nothing is indexed of it ${chosen === null ? 'on any of these chains' : html`on ${chosen.key}`}.</p>` : NOTHING}
${sections}
${moreChains(own, shownOn.slice(CHAINS_SHOWN))}`,
    };
  });

  routes.view('/look-up/nft/:address/:token', async (request) => {
    const address = addressIn(request);
    const tokenId = readTokenId(request.parameter('token'));
    if (tokenId === null)
      throw new InvalidParameterError({ parameter: 'token', given: cut(request.parameter('token')), allowed: 'an id' });
    const chains = chainsAsked(choice, request.query('chain'));
    const isChosen = request.query('chain') !== undefined;
    const known = (await findAddress(lookUp, request.asker, address, chains)).filter((one) => one.isCollection);
    const shownOn = isChosen
      ? chains.map((chain) => known.find((one) => one.chain === chain) ?? nothingOn(chain))
      : known;
    const sections = await Promise.all(
      shownOn.slice(0, CHAINS_SHOWN).map(async ({ chain, name }) => {
        const of = { chain: chain.key, address, tokenId };
        return chainSection(chain, name, await tablesView(request, chain, NFT_TABLES, of, ROWS_OF_ONE));
      }),
    );
    const own = `/console/look-up/nft/${address}/${tokenId}`;
    const links = {
      chosen: isChosen ? (chains[0]?.key ?? null) : null,
      found: known.map(({ chain }) => chain.key),
      all,
    };
    return {
      title: `NFT ${cut(tokenId, 20)}`,
      body: html`<h1>NFT ${shown(tokenId)} of <a href="/console/look-up/address/${address}"><code>${address}</code></a></h1>
${chainLinks(own, links)}
${shownOn.length === 0 ? html`<p>No collection of this address is indexed on any of these chains.</p>` : NOTHING}
${sections}
${moreChains(own, shownOn.slice(CHAINS_SHOWN))}`,
    };
  });

  async function tablesView(
    request: PageRequest,
    chain: Chain,
    tables: readonly DataTable[],
    of: TableSubject,
    limit: number,
  ): Promise<readonly Html[]> {
    const { origin, asker } = request;
    return Promise.all(
      tables.map(async (table) => {
        const answer = await readTableWithin(PATIENCE_MS, lookUp.data, asker, table, { of, limit, cursor: null });
        const more = (cursor: string | null): string => tableAddress(table, of, cursor);
        const view = tableView(table, answer, { of, place: placeOn(chain), origin, more });
        return hasSales(table, answer) ? html`${view}${pricePlot(of)}` : view;
      }),
    );
  }
}

function addressIn({ parameter }: PageRequest) {
  const given = parameter('address');
  if (!isAddress(given))
    throw new InvalidParameterError({
      parameter: 'address',
      given: cut(given),
      allowed: '0x and 40 hexadecimal digits',
    });
  return parseAddress(given);
}

function nothingOn(chain: Chain): FoundAddress {
  return { chain, isAccount: false, transacts: false, isToken: false, isCollection: false, name: null };
}

/** A contract that never had anything is shown as what it is alone, and by what it was called for. */
function tablesOf({ isAccount, transacts, isToken, isCollection }: FoundAddress): readonly DataTable[] {
  const ofAccount = isAccount || (!isToken && !isCollection) ? ACCOUNT_TABLES : transacts ? ACTIVITY_TABLES : [];
  return [...(isToken ? TOKEN_TABLES : []), ...(isCollection ? COLLECTION_TABLES : []), ...ofAccount];
}

function chainSection({ key }: Chain, name: string | null, tables: readonly Html[]): Html {
  return html`<section aria-labelledby="on-${key}"><h2 id="on-${key}">${key}${name === null ? NOTHING : html`: ${shown(name)}`}</h2>${tables}</section>`;
}

function moreChains(own: string, more: readonly FoundAddress[]): Html {
  if (more.length === 0) return NOTHING;
  const links = more.map(
    ({ chain }) => html`<li><a href="${own}?chain=${encodeURIComponent(chain.key)}">${chain.key}</a></li>`,
  );
  return html`<section aria-labelledby="more"><h2 id="more">Also on</h2><ul>${links}</ul></section>`;
}

function hasSales({ name }: DataTable, answer: TableAnswer): boolean {
  if (!name.endsWith('-prices') || answer.kind !== 'rows') return false;
  return answer.rows.some(({ total_trades: sales }) => typeof sales === 'number' && sales > 0);
}
