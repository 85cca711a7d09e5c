import { chainKeyOf } from '@chainstead/aptos';
import { NotFoundError } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleRequest, ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import { button, field } from '../../layout/form.ts';
import {
  code,
  cut,
  type Html,
  link,
  note,
  paragraph,
  problem,
  prose,
  record,
  refused,
  shown,
} from '../../layout/html.ts';
import { addAddressRoutes, addAptosRoutes } from './address-page.ts';
import { addBlockRoutes, addFullRoutes, addTransactionRoutes } from './block-page.ts';
import { addCandleRoutes } from './candles.ts';
import { addNameRoutes } from './name-page.ts';
import { addSuggestionRoutes, findByName, foundView } from './name-search.ts';
import { addPictureRoutes, addPriceRoutes } from './price-routes.ts';
import {
  addressIn,
  chainNamed,
  chainsRequested,
  hashIn,
  networkNamed,
  pageOf,
  placeOn,
  readSubject,
  readTokenId,
} from './subjects.ts';
import { ACCOUNT_TABLES, APTOS_TABLES } from './tables/account-tables.ts';
import type { CellPlace } from './tables/cells.ts';
import { COLLECTION_TABLES, NFT_TABLES, POOL_TABLES, TOKEN_TABLES } from './tables/contract-tables.ts';
import {
  type DataTable,
  readTable,
  resultOf,
  type TableSubject,
  tableAddress,
  tableView,
} from './tables/data-table.ts';

export const explorerPage: ConsolePage = {
  path: '/look-up',
  title: 'Look up',
  addRoutes(routes, services) {
    const { registry } = services;
    routes.view('/look-up', async ({ query }) => {
      const text = query('q')?.trim() ?? '';
      const subject = text === '' ? null : readSubject(text);
      if (subject !== null) return { goTo: pageOf(subject) };
      const found = await findByName(services, text);
      const [only] = found;
      if (only !== undefined && found.length === 1)
        return {
          goTo: `${pageOf({ kind: 'address', address: only.address })}?chain=${registry.get(only.chainId).key}`,
        };
      if (found.length > 0) return { heading: shown(text, 200), body: foundView(found, services) };
      return { body: searchView(text) };
    });
    addSuggestionRoutes(routes, services);
    addAddressRoutes(routes, services);
    addTableRoutes(routes, services);
    addHashRoutes(routes, services);
    addBlockRoutes(routes, services);
    addTransactionRoutes(routes, services);
    addAptosRoutes(routes, services);
    addPictureRoutes(routes, services);
    addPriceRoutes(routes, services);
    addCandleRoutes(routes, services);
    addNameRoutes(routes, services);
    addFullRoutes(routes, services);
  },
};

function searchView(text: string): Html {
  return html`${text !== '' && problem(html`${shown(text, 200)} is not an address, a name, a hash or a block number. No token or collection has it in its symbol or name.`)}
<form method="get" action="/console/look-up" class="fields" aria-label="Look up">
${field('q', SUBJECT)}
<div>${button('Look up')}</div></form>
<h2>Accepted input</h2>
<div id="q-forms">${record(FORMS.map(([subject, form]) => [subject, prose(form)]))}</div>`;
}

const SUBJECT = {
  label: 'Address, symbol, name, NFT, transaction or block',
  attributes: 'maxlength="200" required autocomplete="off" spellcheck="false" aria-describedby="q-forms"',
};

const FORMS = [
  ['Account, token or collection', '`0x` and 40 hexadecimal digits'],
  ['Token or collection', 'part of its symbol or name: `USDC`'],
  ['ENS or Unstoppable Domains name', '`vitalik.eth`'],
  ['NFT', 'contract, `/` and token id: `0xbc4c…f13d/1`'],
  ['Hash of a transaction or block', '`0x` and 64 hexadecimal digits'],
  ['Block', 'block number'],
  ['Aptos account', '`0x` and up to 64 hexadecimal digits'],
] as const;

interface Found {
  readonly address: string;
  readonly text: string;
}

/** 64 digits: a transaction, a block or an Aptos account. Calls nodes. */
function addHashRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { explorer } = services;
  routes.view('/look-up/hash/:hash', async (request) => {
    const hash = hashIn(request.parameter('hash'));
    const chains = chainsRequested(services, request.query('chain'));
    const [places, accounts] = await Promise.all([
      Promise.all(chains.map(async (chain) => ({ chain, place: await explorer.placeOf(chain, hash) }))),
      accountsNamed(request, hash),
    ]);
    const found: Found[] = places.flatMap(({ chain, place }) => {
      if (place === null || place === undefined) return [];
      const { kind, blockNumber } = place;
      const query = `chain=${encodeURIComponent(chain.key)}`;
      if (kind === 'block') {
        const page = pageOf({ kind: 'block', number: blockNumber });
        return [{ address: `${page}?${query}`, text: `block ${blockNumber} of ${chain.key}` }];
      }
      const page = `/console/look-up/transaction/${hash}`;
      return [{ address: `${page}?${query}&block=${blockNumber}`, text: `transaction on ${chain.key}` }];
    });
    const all = [...found, ...accounts];
    const [only] = all;
    if (only !== undefined && all.length === 1) return { goTo: only.address };
    const late = places.flatMap(({ chain, place }) => (place === undefined ? [chain.key] : []));
    return { heading: code(hash), body: hashView(hash, all, late, explorer.networks.length > 0) };
  });

  async function accountsNamed({ asker }: ConsoleRequest, address: string): Promise<readonly Found[]> {
    const found = await Promise.all(
      explorer.networks.map(async (network) => {
        const target = `/wallets/coins?owner_addresses=${address}&network=${network}&limit=1`;
        const { body } = await explorer.data.get(target, asker);
        if (resultOf(body).length === 0) return [];
        const chain = chainKeyOf(network);
        return [{ address: `/console/look-up/aptos/${address}?chain=${chain}`, text: `account on ${chain}` }];
      }),
    );
    return found.flat();
  }
}

function hashView(hash: string, found: readonly Found[], late: readonly string[], hasAptos: boolean): Html {
  const links = found.map(({ address, text }) => html`<li>${link(address, text)}</li>`);
  return html`${found.length === 0 ? paragraph('No upstream that responded has a transaction or a block with this hash.') : html`<ul>${links}</ul>`}
${late.length > 0 && note(`No response in time: ${late.join(', ')}. The role worker reads hashes from upstreams. If you know the block, look up the block.`)}
${hasAptos && html`<p><a href="/console/look-up/aptos/${hash}">As an Aptos account</a></p>`}`;
}

const ROWS = 50;
const CURSOR_MAX = 4_096;
const APTOS = /^0x[0-9a-f]{64}$/i;
const POOL = /^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

function addTableRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { explorer } = services;
  routes.view('/look-up/table/:table', async (request) => {
    const table = ALL_TABLES.find(({ name }) => name === request.parameter('table'));
    if (table === undefined) throw new NotFoundError(`There is no table ${cut(request.parameter('table'), 40)}`);
    const { of, place, own } = subjectOf(table, request);
    const cursor = request.query('cursor') ?? null;
    if (cursor !== null && cursor.length > CURSOR_MAX)
      throw refused('cursor', cursor, 'the cursor of a link on the page');
    const answer = await readTable(explorer.data, request.asker, table, { of, limit: ROWS, cursor });
    const more = (next: string | null): string => tableAddress(table, of, next);
    const token = of.tokenId !== null && html` / ${shown(of.tokenId)}`;
    return {
      title: table.title,
      heading: html`${link(own, code(of.address))}${token}, ${of.chain}`,
      body: tableView(table, answer, { of, place, origin: request.origin, more, isOwnPage: true }),
    };
  });

  function subjectOf(
    table: DataTable,
    { query }: ConsoleRequest,
  ): { readonly of: TableSubject; readonly place: CellPlace; readonly own: string } {
    const [given, chain] = [query('address') ?? '', query('chain') ?? ''];
    const isAptos = table.name.startsWith('aptos-');
    if (isAptos) {
      if (!APTOS.test(given)) throw refused('address', given, 'an address');
      const address = given.toLowerCase();
      networkNamed(explorer.networks, chain);
      const own = `/console/look-up/aptos/${address}?chain=${encodeURIComponent(chain)}`;
      return { of: { chain, address, tokenId: null }, place: { chain, coin: null }, own };
    }
    const found = chainNamed(services, chain);
    if (POOL_TABLES.includes(table)) {
      if (!POOL.test(given)) throw refused('address', given, 'the address or id of a pool');
      const address = given.toLowerCase();
      const own = `/console/pools?${new URLSearchParams({ chain: found.key, address })}`;
      return { of: { chain: found.key, address, tokenId: null }, place: placeOn(found), own };
    }
    const address = addressIn('address', given, 'an address');
    const isOfNft = NFT_TABLES.includes(table);
    const tokenId = isOfNft ? readTokenId(query('token_id') ?? '') : null;
    if (isOfNft && tokenId === null) throw refused('token_id', query('token_id') ?? '', 'an id');
    const page = pageOf(tokenId === null ? { kind: 'address', address } : { kind: 'nft', address, tokenId });
    return {
      of: { chain: found.key, address, tokenId },
      place: placeOn(found),
      own: `${page}?chain=${found.key}`,
    };
  }
}

const CONTRACT_TABLES = [...TOKEN_TABLES, ...COLLECTION_TABLES, ...NFT_TABLES, ...POOL_TABLES];
const ALL_TABLES: readonly DataTable[] = [...ACCOUNT_TABLES, ...CONTRACT_TABLES, ...APTOS_TABLES];
