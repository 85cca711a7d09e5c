import type { Chain } from '@chainstead/chains';
import { type Address, type Hex, isAddress, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { type ListedPool, readListedPool, readNewestStateBlocks, readPoolsListedOf } from '@chainstead/markets';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleRequest, ConsoleServices } from '../../console-page.ts';
import { button, field, queryForm } from '../../layout/form.ts';
import {
  code,
  cut,
  dash,
  type Html,
  NONE,
  NOTHING,
  nextLink,
  note,
  paragraph,
  problem,
  readChoice,
  record,
  refused,
  section,
  shown,
  soft,
  writeQuery,
} from '../../layout/html.ts';
import { count } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';
import { candlePlot } from '../explorer/candles.ts';
import { chainNamed, placeOn } from '../explorer/subjects.ts';
import { blockLink, poolLink } from '../explorer/tables/cells.ts';
import { POOL_TABLES } from '../explorer/tables/contract-tables.ts';
import { readTableWithin, tableAddress, tableView } from '../explorer/tables/data-table.ts';
import { priceSection } from './price-section.ts';

const PAGE = 50;
const ROWS = 10;
const PATIENCE_MS = 4_000;
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
      return { body: html`${form(services, query)}${pools}` };
    });
  },
};

type PoolsQuery = ReturnType<typeof readQuery>;

function readQuery({ query }: ConsoleRequest, services: ConsoleServices) {
  const given = (name: string): string => query(name)?.trim() ?? '';
  const [block, page] = [given('block'), given('page')];
  if (block !== '' && !BLOCK.test(block)) throw refused('block', block, 'a block number');
  if (page !== '' && !PAGE_NUMBER.test(page)) throw refused('page', page, 'a page number');
  return {
    chain: given('chain') === '' ? (services.explorer.chains[0] ?? null) : chainNamed(services, given('chain')),
    text: given('address'),
    block: block === '' ? null : Number(block),
    status: readChoice('status', cut(given('status')), STATUSES),
    page: page === '' ? 1 : Number(page),
  };
}

const ADDRESS = {
  label: 'Token or pool',
  attributes: 'maxlength="66" required autocomplete="off" spellcheck="false" aria-describedby="address-forms"',
};
const BLOCK_FIELD = {
  label: 'Price at block',
  attributes: 'inputmode="numeric" maxlength="15" placeholder="newest" autocomplete="off"',
};

function form({ explorer }: ConsoleServices, { chain, text, block, status }: PoolsQuery): Html {
  const fields = [
    field('chain', { label: 'Chain', options: explorer.chains.map(({ key }) => key) }, chain?.key),
    field('address', ADDRESS, cut(text, 66)),
    field('status', { label: 'Pools', options: STATUSES, all: 'all' }, status),
    field('block', BLOCK_FIELD, block ?? ''),
  ];
  return html`${queryForm('/console/pools', 'Find pools', fields, button('Show'))}
<p class="soft" id="address-forms">The address of a token or a pool, or the 32-byte id of a pool at a pool manager.</p>`;
}

async function content(request: ConsoleRequest, services: ConsoleServices, query: PoolsQuery): Promise<Html> {
  const { chain, text } = query;
  if (chain === null) return paragraph('No EVM chain is indexed here.');
  if (text === '') return NOTHING;
  if (isAddress(text)) return addressContent(request, services, { ...query, chain, address: parseAddress(text) });
  if (!POOL_ID.test(text)) return problem(html`${shown(text, 80)} is not an address or a pool id.`);
  const { reads } = services.explorer;
  const id = text.toLowerCase() as Hex;
  const pool = await readListedPool(reads, chain, id);
  if (pool === null) return html`<p>No pool with this id is known on ${chain.key}.</p>`;
  const states = await readNewestStateBlocks(reads, chain, [id]);
  return html`${poolView(pool, chain, states)}${await poolTables(request, services.explorer, pool, chain)}`;
}

async function addressContent(
  request: ConsoleRequest,
  { explorer }: ConsoleServices,
  query: PoolsQuery & { readonly chain: Chain; readonly address: Address },
): Promise<Html> {
  const { reads } = explorer;
  const { chain, address, block, status, page } = query;
  const [pool, { pools, isWhole }] = await Promise.all([
    readListedPool(reads, chain, address),
    readPoolsListedOf(reads, chain, { token: address, status, limit: SIDE_MAX }),
  ]);
  const shownPools = pools.slice((page - 1) * PAGE, page * PAGE);
  const ids: readonly Hex[] = [...(pool === null ? [] : [address]), ...shownPools.map((listed) => listed.pool)];
  const states = await readNewestStateBlocks(reads, chain, ids);
  const own =
    pool === null
      ? NOTHING
      : html`${poolView(pool, chain, states)}${await poolTables(request, explorer, pool, chain)}`;
  // The token of a pool is seldom traded itself.
  if (pool !== null && pools.length === 0) return own;
  const price = await priceSection(request, explorer, { chain: chain.key, token: address, block });
  const following = writeQuery({ chain: chain.key, address, status, page: String(page + 1) });
  const next = pools.length > page * PAGE ? `/console/pools${following}` : null;
  const rows = shownPools.map((listed) => [
    poolLink(listed.pool, chain.key),
    dash(listed.exchange, shown),
    tokensView(listed, chain),
    statusView(listed),
    proofView(listed, chain.key),
    feeView(listed),
    countedView(listed),
    blockLink(states.get(listed.pool) ?? null, chain.key),
  ]);
  const list = table({
    label: `Pools of this token, ${chain.key}`,
    className: 'rows',
    columns: [
      ...['Pool', 'Exchange', 'Tokens', 'Status', 'Proof'],
      ...[number('Fee'), 'Counted', number('Newest state')],
    ],
    none: pools.length === 0 ? 'No pool of this token is known.' : 'No pools on this page.',
    rows,
  });
  const listed = section(
    'pools',
    'Pools of this token',
    list,
    !isWhole && note(html`There are more pools than these ${count(pools.length)}.`),
    note('Disproved pools are not in this list. Look one up by its address.'),
    nextLink(next, 'Next page'),
  );
  return html`${own}${price}${listed}`;
}

/** Uniswap v4: the hook sets the fee at each swap. */
const DYNAMIC_FEE = 0x80_00_00;
const PPM_PER_PERCENT = 10_000;
const SYMBOL_MAX = 20;
const PROBLEM_MAX = 300;

function poolView(pool: ListedPool, chain: Chain, states: ReadonlyMap<string, number>): Html {
  const { key } = chain;
  const facts = record([
    ['Pool', isAddress(pool.pool) ? wholeLink(pool.pool, key) : code(pool.pool)],
    ['Held by', wholeLink(pool.vault, key)],
    ['Status', statusView(pool)],
    ['Proof', proofView(pool, key)],
    ['Exchange', dash(pool.exchange, shown)],
    ['Factory', wholeLink(pool.factory, key)],
    ['Tokens', tokensView(pool, chain)],
    ['Fee', feeView(pool)],
    ['Tick spacing or bin step', dash(pool.tickSpacing, String)],
    ['Curve of stable pairs', dash(pool.isStable, (isStable) => (isStable ? 'yes' : 'no'))],
    ['Hook', wholeLink(pool.hooks, key)],
    ['Counted', countedView(pool)],
    ['Newest state', blockLink(states.get(pool.pool) ?? null, key)],
  ]);
  return section('pool', 'Pool', facts, pool.status === 'proven' && candlePlot(key, pool.pool));
}

/** The API's responses about a proven pool: it lists no others. */
async function poolTables(
  { asker, origin }: ConsoleRequest,
  { data }: ConsoleServices['explorer'],
  { pool, status }: ListedPool,
  chain: Chain,
): Promise<Html> {
  if (status !== 'proven') return NOTHING;
  const of = { chain: chain.key, address: pool, tokenId: null };
  const views = POOL_TABLES.map(async (table) => {
    const answer = await readTableWithin(PATIENCE_MS, data, asker, table, { of, limit: ROWS, cursor: null });
    const more = (cursor: string | null): string => tableAddress(table, of, cursor);
    return tableView(table, answer, { of, place: placeOn(chain), origin, more });
  });
  return html`${await Promise.all(views)}`;
}

const STATUS_CLASSES = { proven: 'v-ok', unproven: 'v-warning', disproved: 'v-bad' } as const;

function statusView({ status }: ListedPool): Html {
  return html`<strong class="${STATUS_CLASSES[status]}">${status}</strong>`;
}

function proofView({ status, proof, proofBlock, isDue, problem }: ListedPool, chain: string): Html {
  const at = proofBlock === null ? NOTHING : html`, block ${blockLink(proofBlock, chain)}`;
  if (status === 'disproved') return html`no factory of a known exchange acknowledges it${at}`;
  if (status === 'unproven') {
    if (!isDue) return html`only a creation event can prove it`;
    return html`due${problem !== null && html`. Last error: ${shown(problem, PROBLEM_MAX)}`}`;
  }
  return html`${proof === null ? NONE : PROOFS[proof]}${at}`;
}

const PROOFS: Readonly<Record<NonNullable<ListedPool['proof']>, string>> = {
  creation: 'creation event',
  address: 'address',
  factory: 'reply of the factory',
};

/** Tokens of an unproven pool are guessed. */
function tokensView({ token0, token1, symbol0, symbol1, status }: ListedPool, chain: Chain): Html {
  if (token0 === null && token1 === null) return NONE;
  const guessed = status !== 'proven' && html` ${soft('guessed')}`;
  return html`${tokenLink(token0, symbol0, chain)} / ${tokenLink(token1, symbol1, chain)}${guessed}`;
}

function tokenLink(token: Address | null, symbol: string | null, { key, native }: Chain): Html {
  if (token === null) return html`unknown`;
  if (token === ZERO_ADDRESS) return html`${native.symbol}`;
  return poolLink(token, key, symbol === null || symbol.trim() === '' ? undefined : shown(symbol, SYMBOL_MAX));
}

function feeView({ fee }: ListedPool): Html {
  if (fee === null) return NONE;
  return fee === DYNAMIC_FEE ? html`set by the hook` : html`${fee / PPM_PER_PERCENT} %`;
}

function countedView({ isCounted, status }: ListedPool): Html {
  if (isCounted) return html`yes`;
  return status === 'proven' ? html`no: its hook may change amounts` : html`no`;
}

function wholeLink(address: string | null, chain: string): Html {
  if (address === null) return NONE;
  return html`<a href="/console/look-up/address/${address}?chain=${encodeURIComponent(chain)}"><code>${address}</code></a>`;
}
