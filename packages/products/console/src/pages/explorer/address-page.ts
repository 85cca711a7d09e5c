import { type AptosNetwork, chainKeyOf } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { InnerAsker } from '@chainstead/http/server';
import { hasNftTransfers } from '@chainstead/nft';
import { readSeenContracts } from '@chainstead/tokens';
import { type NameService, normalName } from '@chainstead/tokens/names';
import { hasTransactions } from '@chainstead/transactions';
import { html } from 'hono/html';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices, ExplorerServices } from '../../console-page.ts';
import { code, cut, type Html, NOTHING, paragraph, record, refused, section, shown } from '../../layout/html.ts';
import { candlePlot } from './candles.ts';
import {
  fetchName,
  findingView,
  type NameContext,
  type NameSources,
  nameText,
  servicesOfName,
} from './name-page.ts';
import { pricePlot } from './price-routes.ts';
import {
  addressIn,
  chainLinks,
  chainsRequested,
  networkNamed,
  placeOn,
  readTokenId,
  wholeAptosAddress,
} from './subjects.ts';
import { ACCOUNT_TABLES, ACTIVITY_TABLES, APTOS_TABLES } from './tables/account-tables.ts';
import { type CellPlace, textAt } from './tables/cells.ts';
import { COLLECTION_TABLES, NFT_TABLES, TOKEN_TABLES } from './tables/contract-tables.ts';
import {
  type DataTable,
  readTableWithin,
  resultOf,
  type TableAnswer,
  type TableSubject,
  tableAddress,
  tableView,
} from './tables/data-table.ts';

const CHAINS_SHOWN = 3;
const ROWS_OF_SEVERAL = 5;
const ROWS_OF_ONE = 10;
const PATIENCE_MS = 4_000;
const NAME_MAX = 60;
const ADDRESS_FORM = '0x and 40 hexadecimal digits';
const APTOS_ADDRESS = /^0x[0-9a-f]{1,64}$/i;

export function addAddressRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { explorer, database, clock } = services;
  const all = explorer.chains.map(({ key }) => key);

  routes.view('/look-up/address/:address', async (request) => {
    const address = addressIn('address', request.parameter('address'), ADDRESS_FORM);
    const chains = chainsRequested(services, request.query('chain'));
    const sources = { data: explorer.data, database, asker: request.asker };
    const [found, names] = await Promise.all([
      findAddress(explorer, request.asker, address, chains),
      readAddressNames(sources, address, explorer.nameServices, normalName(request.query('name') ?? '')),
    ]);
    const chosen = chains.length === 1 && request.query('chain') !== undefined ? (chains[0] ?? null) : null;
    const shownOn = found.length === 0 && chosen !== null ? [nothingOn(chosen)] : found;
    const limit = shownOn.length > 1 ? ROWS_OF_SEVERAL : ROWS_OF_ONE;
    const sections = await Promise.all(
      shownOn.slice(0, CHAINS_SHOWN).map(async (onChain) => {
        const { chain, name, isToken } = onChain;
        const of = { chain: chain.key, address, tokenId: null };
        const tables = await tablesView(explorer, request, tablesOf(onChain), {
          of,
          place: placeOn(chain),
          limit,
        });
        const query = new URLSearchParams({ chain: chain.key, address });
        const pools = html`<p><a href="/console/pools?${query}">Pools and price</a></p>`;
        return chainSection(chain, name, isToken ? [pools, ...tables] : tables);
      }),
    );
    const own = `/console/look-up/address/${address}`;
    const contractName = shownOn.map(({ name }) => name).find((name) => name !== null) ?? null;
    const links = { chosen: chosen?.key ?? null, found: found.map(({ chain }) => chain.key), all };
    const searched = chosen === null ? 'on any of these chains' : `on ${chosen.key}`;
    return {
      title: contractName === null ? `Address ${address}` : cut(contractName, NAME_MAX),
      heading: contractName === null ? html`Address ${code(address)}` : shown(contractName, NAME_MAX),
      body: html`${contractName !== null && html`<p>${code(address)}</p>`}
${addressNamesView(address, names, { origin: request.origin, chains: explorer.chains, now: clock.now() })}
${chainLinks(own, links)}
${found.length === 0 && html`<p>No data is indexed for this address ${searched}.</p>`}
${sections}
${moreChains(own, shownOn.slice(CHAINS_SHOWN))}`,
    };
  });

  routes.view('/look-up/nft/:address/:token', async (request) => {
    const address = addressIn('address', request.parameter('address'), ADDRESS_FORM);
    const tokenId = readTokenId(request.parameter('token'));
    if (tokenId === null) throw refused('token', request.parameter('token'), 'an id');
    const chains = chainsRequested(services, request.query('chain'));
    const isChosen = request.query('chain') !== undefined;
    const collections = (await findAddress(explorer, request.asker, address, chains)).filter(
      ({ isCollection }) => isCollection,
    );
    const shownOn = isChosen
      ? chains.map((chain) => collections.find((onChain) => onChain.chain === chain) ?? nothingOn(chain))
      : collections;
    const sections = await Promise.all(
      shownOn.slice(0, CHAINS_SHOWN).map(async ({ chain, name }) => {
        const of = { chain: chain.key, address, tokenId };
        const page = { of, place: placeOn(chain), limit: ROWS_OF_ONE };
        return chainSection(chain, name, await tablesView(explorer, request, NFT_TABLES, page));
      }),
    );
    const own = `/console/look-up/nft/${address}/${tokenId}`;
    const chosen = isChosen ? (chains[0]?.key ?? null) : null;
    const links = { chosen, found: collections.map(({ chain }) => chain.key), all };
    return {
      title: `NFT ${cut(tokenId, 20)}`,
      heading: html`NFT ${shown(tokenId)} of <a href="/console/look-up/address/${address}">${code(address)}</a>`,
      body: html`${chainLinks(own, links)}
${shownOn.length === 0 && paragraph('No collection with this address is indexed on any of these chains.')}
${sections}
${moreChains(own, shownOn.slice(CHAINS_SHOWN))}`,
    };
  });
}

export function addAptosRoutes(routes: ConsoleRoutes, { explorer }: ConsoleServices): void {
  routes.view('/look-up/aptos/:address', async (request) => {
    const given = request.parameter('address');
    if (!APTOS_ADDRESS.test(given)) throw refused('address', given, '0x and up to 64 digits');
    const address = wholeAptosAddress(given);
    const named = request.query('chain');
    const networks = named === undefined ? explorer.networks : [networkNamed(explorer.networks, named)];
    const sections = await Promise.all(networks.map((network) => sectionOf(request, network, address)));
    const own = `/console/look-up/aptos/${address}`;
    const all = explorer.networks.map(chainKeyOf);
    return {
      title: `Aptos ${address}`,
      heading: html`Aptos account ${code(address)}`,
      body: html`${all.length > 1 && chainLinks(own, { chosen: named ?? null, found: all, all })}
${networks.length === 0 && paragraph('No Aptos network is indexed here.')}${sections}`,
    };
  });

  async function sectionOf(request: ConsoleRequest, network: AptosNetwork, address: string): Promise<Html> {
    const chain = chainKeyOf(network);
    const page = { of: { chain, address, tokenId: null }, place: { chain, coin: null }, limit: ROWS_OF_ONE };
    const tables = await tablesView(explorer, request, APTOS_TABLES, page);
    return section(`on-${chain}`, chain, tables);
  }
}

async function tablesView(
  explorer: ExplorerServices,
  { origin, asker }: ConsoleRequest,
  tables: readonly DataTable[],
  { of, place, limit }: { readonly of: TableSubject; readonly place: CellPlace; readonly limit: number },
): Promise<readonly Html[]> {
  return Promise.all(
    tables.map(async (table) => {
      const answer = await readTableWithin(PATIENCE_MS, explorer.data, asker, table, { of, limit, cursor: null });
      const more = (cursor: string | null): string => tableAddress(table, of, cursor);
      const view = tableView(table, answer, { of, place, origin, more });
      if (hasSales(table, answer)) return html`${view}${pricePlot(of)}`;
      const pool = pricedBy(table, answer);
      return pool === null ? view : html`${view}${candlePlot(of.chain, pool)}`;
    }),
  );
}

function hasSales({ name }: DataTable, answer: TableAnswer): boolean {
  if (!name.endsWith('-prices') || answer.kind !== 'rows') return false;
  return answer.rows.some(({ total_trades: sales }) => typeof sales === 'number' && sales > 0);
}

/** The pool that decides a token's price. */
function pricedBy({ name }: DataTable, answer: TableAnswer): string | null {
  if (name !== 'token-price' || answer.kind !== 'rows') return null;
  return answer.rows.map((row) => textAt(row, 'pairAddress')).find((pool) => pool !== null) ?? null;
}

function nothingOn(chain: Chain): FoundAddress {
  return { chain, isAccount: false, transacts: false, isToken: false, isCollection: false, name: null };
}

function tablesOf({ isAccount, transacts, isToken, isCollection }: FoundAddress): readonly DataTable[] {
  const ofAccount = isAccount || (!isToken && !isCollection) ? ACCOUNT_TABLES : transacts ? ACTIVITY_TABLES : [];
  return [...(isToken ? TOKEN_TABLES : []), ...(isCollection ? COLLECTION_TABLES : []), ...ofAccount];
}

function chainSection({ key }: Chain, name: string | null, tables: readonly Html[]): Html {
  return section(`on-${key}`, html`${key}${name !== null && html`: ${shown(name)}`}`, tables);
}

function moreChains(own: string, more: readonly FoundAddress[]): Html {
  if (more.length === 0) return NOTHING;
  const links = more.map(
    ({ chain }) => html`<li><a href="${own}?chain=${encodeURIComponent(chain.key)}">${chain.key}</a></li>`,
  );
  return section('more', 'Also on', html`<ul>${links}</ul>`);
}

type AddressNames = Awaited<ReturnType<typeof readAddressNames>>;

/** Only verified names, which resolve back. `requested`: normalized, may resolve to the address. */
async function readAddressNames(
  sources: NameSources,
  address: Address,
  services: readonly NameService[],
  requested: string | null,
) {
  const fetch = (service: NameService, wanted: 'address' | 'name', subject: string) =>
    fetchName(sources, { service, wanted, subject }, PATIENCE_MS);
  const [own, findings] = await Promise.all([
    Promise.all(services.map((service) => fetch(service, 'name', address))),
    requested === null
      ? []
      : Promise.all(servicesOfName(requested).map((service) => fetch(service, 'address', requested))),
  ]);
  return { own, requested: requested === null ? null : { name: requested, findings } };
}

function addressNamesView(address: Address, { own, requested }: AddressNames, context: NameContext): Html {
  if (own.length === 0 && requested === null) return NOTHING;
  const names = own.map((finding) =>
    findingView(finding, context, (name) => html`${nameText(name)}: set by the address, and resolves back to it`),
  );
  return section(
    'names',
    'Names',
    requested !== null && requestedView(address, requested, context),
    names.length > 0 && record(names),
  );
}

function requestedView(
  address: Address,
  { name, findings }: NonNullable<AddressNames['requested']>,
  context: NameContext,
): Html {
  const resolved = findings.filter(({ kind }) => kind === 'found');
  const leads = (to: string): Html =>
    to.toLowerCase() === address
      ? html`resolves to this address`
      : html`<span class="v-bad">resolves to another address</span>: <a href="/console/look-up/address/${to.toLowerCase()}"><code>${to}</code></a>`;
  return html`<p>Looked up by ${nameText(name)}</p>
${record((resolved.length === 0 ? findings : resolved).map((finding) => findingView(finding, context, leads)))}`;
}

interface FoundAddress {
  readonly chain: Chain;
  readonly isAccount: boolean;
  readonly transacts: boolean;
  readonly isToken: boolean;
  readonly isCollection: boolean;
  readonly name: string | null;
}

/** Only chains with data. Calls no node, and queues no backfill. */
async function findAddress(
  explorer: ExplorerServices,
  asker: InnerAsker,
  address: Address,
  chains: readonly Chain[],
): Promise<readonly FoundAddress[]> {
  const contracts = new Map(
    (await readSeenContracts(explorer.reads, address)).map((seen) => [seen.chainId, seen]),
  );
  const all = await Promise.all(
    chains.map(async (chain): Promise<FoundAddress> => {
      const [movesTokens, movesNfts, transacts] = await Promise.all([
        hasTransfers(explorer, asker, chain, address),
        hasNftTransfers(explorer.reads, chain, address),
        hasTransactions(explorer.reads, chain, address),
      ]);
      const seen = contracts.get(chain.id);
      return {
        chain,
        isAccount: movesTokens || movesNfts,
        transacts,
        isToken: seen?.isToken === true,
        isCollection: seen?.isCollection === true,
        name: seen?.name ?? seen?.symbol ?? null,
      };
    }),
  );
  return all.filter(
    ({ isAccount, transacts, isToken, isCollection }) => isAccount || transacts || isToken || isCollection,
  );
}

async function hasTransfers(
  { data }: ExplorerServices,
  asker: InnerAsker,
  chain: Chain,
  address: Address,
): Promise<boolean> {
  const { body } = await data.get(`/api/v2.2/${address}/erc20/transfers?chain=${chain.key}&limit=1`, asker);
  return resultOf(body).length > 0;
}
