import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, isAddress, parseAddress } from '@chainstead/core';
import { InvalidParameterError, NotFoundError } from '@chainstead/http';
import { readListedPool, readNewestStateBlocks, readPoolsListedOf } from '@chainstead/markets';
import { readExplainedPrice } from '@chainstead/prices';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleRequest, ConsoleServices } from '../../console-page.ts';
import { selectField } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { readChoice, writeQuery } from '../../layout/query.ts';
import { chainNamed } from '../explorer/subjects/choose-chain.ts';
import { poolListView, poolView } from './pools-view.ts';
import { priceView } from './price-view.ts';

const PAGE = 50;
/** Per side of a token: some have hundreds of thousands. */
const SIDE_MAX = 1_000;
const BLOCK = /^\d{1,15}$/;
const PAGE_NUMBER = /^[1-9]\d{0,2}$/;
const POOL_ID = /^0x[0-9a-f]{64}$/i;
const STATUSES = ['proven', 'unproven'] as const;

export const poolsPage: ConsolePage = {
  path: '/pools',
  title: 'Pools',
  group: 'Data',
  addRoutes(routes, services) {
    routes.view('/pools', async (request) => {
      const query = readQuery(request, services);
      const pools = await content(request, services, query);
      return { title: 'Pools', body: html`<h1>Pools</h1>${form(services, query)}${pools}` };
    });
  },
};

interface PoolsQuery {
  readonly chain: Chain | null;
  readonly text: string;
  readonly block: number | null;
  readonly status: (typeof STATUSES)[number] | null;
  readonly page: number;
}

function readQuery({ query }: ConsoleRequest, { explorer, registry }: ConsoleServices): PoolsQuery {
  const given = (name: string): string => query(name)?.trim() ?? '';
  const [block, page] = [given('block'), given('page')];
  const refuse = (parameter: string, value: string, allowed: string): Error =>
    new InvalidParameterError({ parameter, given: cut(value), allowed });
  if (block !== '' && !BLOCK.test(block)) throw refuse('block', block, 'a block number');
  if (page !== '' && !PAGE_NUMBER.test(page)) throw refuse('page', page, 'a page number');
  const { chains } = explorer;
  return {
    chain: given('chain') === '' ? (chains[0] ?? null) : chainNamed({ registry, chains }, given('chain')),
    text: given('address'),
    block: block === '' ? null : Number(block),
    status: readChoice('status', cut(given('status')), STATUSES),
    page: page === '' ? 1 : Number(page),
  };
}

function form({ explorer }: ConsoleServices, { chain, text, block, status }: PoolsQuery): Html {
  return html`<form method="get" action="/console/pools" class="fields row" aria-label="Find pools">
${selectField({ name: 'chain', label: 'Chain', options: explorer.chains.map(({ key }) => key), chosen: chain?.key ?? '' })}
<div><label for="address">Token or pool</label><input id="address" name="address" type="text" value="${cut(text, 66)}" maxlength="66" required autocomplete="off" spellcheck="false" aria-describedby="address-forms"></div>
${selectField({ name: 'status', label: 'Pools', options: STATUSES, chosen: status ?? '', all: 'all' })}
<div><label for="block">Price at block</label><input id="block" name="block" type="text" inputmode="numeric" value="${block ?? ''}" maxlength="15" placeholder="newest" autocomplete="off"></div>
<div><button>Show</button></div></form>
<p class="soft" id="address-forms">The address of a token or a pool, or the 32-byte id of a pool at a pool manager.</p>`;
}

async function content(request: ConsoleRequest, services: ConsoleServices, query: PoolsQuery): Promise<Html> {
  const { chain, text } = query;
  if (chain === null) return html`<p>No EVM chain is indexed here.</p>`;
  if (text === '') return NOTHING;
  if (isAddress(text)) return addressContent(request, services, { ...query, chain, address: parseAddress(text) });
  if (!POOL_ID.test(text))
    return html`<p class="problem" role="alert">${shown(text, 80)} is not an address or a pool id.</p>`;
  const { reads } = services.explorer;
  const id = text.toLowerCase() as Hex;
  const pool = await readListedPool(reads, chain, id);
  if (pool === null) return html`<p>No pool with this id is known on ${chain.key}.</p>`;
  return poolView(pool, chain, await readNewestStateBlocks(reads, chain, [id]));
}

async function addressContent(
  { origin }: ConsoleRequest,
  { explorer: { reads } }: ConsoleServices,
  query: PoolsQuery & { readonly chain: Chain; readonly address: Address },
): Promise<Html> {
  const { chain, address, block, status, page } = query;
  const [pool, { pools, isWhole }] = await Promise.all([
    readListedPool(reads, chain, address),
    readPoolsListedOf(reads, chain, { token: address, status, limit: SIDE_MAX }),
  ]);
  const shownPools = pools.slice((page - 1) * PAGE, page * PAGE);
  const ids: readonly Hex[] = [...(pool === null ? [] : [address]), ...shownPools.map((listed) => listed.pool)];
  const states = await readNewestStateBlocks(reads, chain, ids);
  const own = pool === null ? NOTHING : poolView(pool, chain, states);
  // The token of a pool is seldom traded itself.
  if (pool !== null && pools.length === 0) return own;
  const search = { token: address, toBlock: block, exchange: null };
  const price = await readExplainedPrice(reads, chain, search).catch((error: unknown) => {
    if (error instanceof NotFoundError) return error.message;
    throw error;
  });
  const following = writeQuery({ chain: chain.key, address, status, page: String(page + 1) });
  const next = pools.length > page * PAGE ? `/console/pools${following}` : null;
  const list = { pools: shownPools, count: pools.length, isWhole, states, next };
  return html`${own}${priceView(price, { chain: chain.key, token: address, origin })}${poolListView(list, chain)}`;
}
