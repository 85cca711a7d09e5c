import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, type Hex, isAddress, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { InvalidParameterError, NotFoundError } from '@chainstead/http';
import { type ListedPool, readListedPool, readNewestStateBlocks, readPoolsListedOf } from '@chainstead/markets';
import { type PriceExplanation, readExplainedPrice, type ShownTokenPrice } from '@chainstead/prices';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleRequest, ConsoleServices } from '../../console-page.ts';
import { selectField } from '../../layout/form.ts';
import { cut, type Html, NONE, NOTHING, nextLink, record, shown } from '../../layout/html.ts';
import { count, duration, moment } from '../../layout/numbers.ts';
import { readChoice, writeQuery } from '../../layout/query.ts';
import { number, table } from '../../layout/table.ts';
import { candlePlot } from '../explorer/candles.ts';
import { chainNamed } from '../explorer/subjects.ts';
import { accountLink, blockLink, short } from '../explorer/tables/cells.ts';
import { curlLine, curlView } from '../explorer/tables/data-table.ts';

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

/** Uniswap v4: the hook sets the fee at each swap. */
const DYNAMIC_FEE = 0x80_00_00;
const PPM_PER_PERCENT = 10_000;
const SYMBOL_MAX = 20;
const PROBLEM_MAX = 300;

interface PoolList {
  readonly pools: readonly ListedPool[];
  readonly count: number;
  readonly isWhole: boolean;
  readonly states: ReadonlyMap<string, number>;
  readonly next: string | null;
}

function poolView(pool: ListedPool, chain: Chain, states: ReadonlyMap<string, number>): Html {
  const { key } = chain;
  const facts = record([
    ['Pool', isAddress(pool.pool) ? wholeLink(pool.pool, key) : html`<code>${pool.pool}</code>`],
    ['Held by', wholeLink(pool.vault, key)],
    ['Status', statusView(pool)],
    ['Proof', proofView(pool, key)],
    ['Exchange', textOrNone(pool.exchange)],
    ['Factory', wholeLink(pool.factory, key)],
    ['Tokens', tokensView(pool, chain)],
    ['Fee', feeView(pool)],
    ['Tick spacing or bin step', pool.tickSpacing === null ? NONE : html`${pool.tickSpacing}`],
    ['Curve of stable pairs', pool.isStable === null ? NONE : html`${pool.isStable ? 'yes' : 'no'}`],
    ['Hook', wholeLink(pool.hooks, key)],
    ['Counted', countedView(pool)],
    ['Newest state', blockLink(states.get(pool.pool) ?? null, key)],
  ]);
  return html`<section aria-labelledby="pool"><h2 id="pool">Pool</h2>
${facts}
${pool.status === 'proven' && candlePlot(key, pool.pool)}</section>`;
}

function poolListView({ pools, count: all, isWhole, states, next }: PoolList, chain: Chain): Html {
  const rows = pools.map((pool) => [
    poolLink(pool.pool, chain.key),
    textOrNone(pool.exchange),
    tokensView(pool, chain),
    statusView(pool),
    proofView(pool, chain.key),
    feeView(pool),
    countedView(pool),
    blockLink(states.get(pool.pool) ?? null, chain.key),
  ]);
  const list = table({
    label: `Pools of this token, ${chain.key}`,
    className: 'rows',
    columns: [
      ...['Pool', 'Exchange', 'Tokens', 'Status', 'Proof'],
      ...[number('Fee'), 'Counted', number('Newest state')],
    ],
    none: all === 0 ? 'No pool of this token is known.' : 'No pools on this page.',
    rows,
  });
  return html`<section aria-labelledby="pools"><h2 id="pools">Pools of this token</h2>
${list}
${!isWhole && html`<p class="soft">There are more pools than these ${count(all)}.</p>`}
<p class="soft">Disproved pools are not in this list. Look one up by its address.</p>
${nextLink(next, 'Next page')}</section>`;
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
  const guessed = status !== 'proven' && html` <span class="soft">guessed</span>`;
  return html`${tokenLink(token0, symbol0, chain)} / ${tokenLink(token1, symbol1, chain)}${guessed}`;
}

function tokenLink(token: Address | null, symbol: string | null, { key, native }: Chain): Html {
  if (token === null) return html`unknown`;
  if (token === ZERO_ADDRESS) return html`${native.symbol}`;
  return poolLink(token, key, symbol === null || symbol.trim() === '' ? undefined : shown(symbol, SYMBOL_MAX));
}

function poolLink(address: string, chain: string, text = html`<code>${short(address)}</code>`): Html {
  const query = new URLSearchParams({ chain, address });
  return html`<a href="/console/pools?${query}" title="${address}">${text}</a>`;
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

function textOrNone(text: string | null): Html {
  return text === null ? NONE : shown(text);
}

interface PriceContext {
  readonly chain: string;
  readonly token: string;
  readonly origin: string;
}

type Candidate = PriceExplanation['candidates'][number];
type Anchor = PriceExplanation['anchors'][number];

const CANDIDATES_SHOWN = 100;
const AMOUNT_DIGITS = 4;

/** A text is the reason for no price. */
function priceView(price: ShownTokenPrice | string, context: PriceContext): Html {
  const { chain, token, origin } = context;
  const requestAt = (block: string | null): Html => {
    const query = new URLSearchParams({ chain, ...(block !== null && { to_block: block }), explain: 'true' });
    return curlView(curlLine(origin, `/api/v2.2/erc20/${token}/price?${query}`));
  };
  if (typeof price === 'string')
    return html`<section aria-labelledby="price"><h2 id="price">Price</h2>
<p>No price: ${shown(price, 300)}.</p>
<p class="soft">This page uses stored balances only. An API request reads missing ones from a node.</p>
${requestAt(null)}</section>`;
  const { explanation } = price;
  if (explanation === undefined) return NOTHING;
  const { block } = explanation;
  const command = `npx chainstead explain-price --chain ${chain} --token ${token} --block ${block}`;
  const chosen = explanation.candidates.find(({ role }) => role === 'chosen');
  const incomplete = html`<p class="problem"><strong>Not complete:</strong> missing blocks, proofs or balances may change this price.</p>`;
  return html`<section aria-labelledby="price"><h2 id="price">Price</h2>
${!price.indexed.complete && incomplete}
${factsOf(price, explanation, chain)}
${chosen !== undefined && candlePlot(chain, chosen.pair_address)}
<section aria-labelledby="candidates"><h3 id="candidates">Candidates</h3>${candidatesOf(explanation, chain)}</section>
<section aria-labelledby="anchors"><h3 id="anchors">Anchors</h3>${anchorsOf(explanation, chain)}</section>
${requestAt(block)}
${curlView(command, 'Command')}</section>`;
}

const RULES: Readonly<Record<PriceExplanation['rule'], string>> = {
  anchor: 'anchor: the price does not come from pools',
  spot: 'spot: newest state of the chosen pool',
  median: 'median of the chosen pool, because its newest price has not held for long enough',
};

function factsOf(price: ShownTokenPrice, explanation: PriceExplanation, chain: string): Html {
  const { rule, move_cost_usd: cost, rules, time } = explanation;
  const symbol = price.tokenSymbol === null ? NOTHING : html` per ${shown(price.tokenSymbol, 20)}`;
  const bound = explanation.is_move_cost_upper_bound ? 'at most ' : '';
  const dollars = (value: string | null): Html => (value === null ? NONE : html`${value} USD`);
  const hold = `a jump by ${rules.jump_limit} holds ${duration(rules.hold_seconds)}`;
  const limits = `window ${duration(rules.window_seconds)}, ${hold}, ${rules.pools_max} pools`;
  return record([
    ['Price', html`<strong>${price.usdPriceFormatted} USD</strong>${symbol}`],
    ['End of block', html`${blockLink(Number(explanation.block), chain)}, ${moment(new Date(time * 1_000))}`],
    ['Rule', html`${RULES[rule]}`],
    ['Median of the window', dollars(explanation.median_usd)],
    ['Held for', explanation.held_seconds === null ? NONE : html`${duration(explanation.held_seconds)}`],
    ['Cost of raising it by 10 %', cost === null ? NONE : html`${bound}${cost} USD`],
    ['Ether', dollars(explanation.ether_usd)],
    ['Limits', html`${rules.min_side_usd} USD on each side, ${limits}`],
    ['Exact price', html`<code>${explanation.price_numerator} / ${explanation.price_denominator}</code>`],
  ]);
}

function candidatesOf({ rule, candidates }: PriceExplanation, chain: string): Html {
  if (candidates.length === 0)
    return html`<p class="soft">${rule === 'anchor' ? 'An anchor needs no pool.' : 'No pool was considered.'}</p>`;
  const rows = candidates
    // Equal roles by weight; rounded numbers are enough for display.
    .toSorted(
      (left, right) =>
        ROLES.indexOf(left.role) - ROLES.indexOf(right.role) ||
        Number(right.weight_usd) - Number(left.weight_usd),
    )
    .slice(0, CANDIDATES_SHOWN)
    .map((pool) => {
      const newest = pool.states.at(-1)?.block;
      return [
        poolLink(pool.pair_address, chain),
        shown(pool.exchange_name),
        roleView(pool.role),
        pool.price_usd,
        pool.weight_usd,
        html`${pool.sides.map((side, index) => [index > 0 && html`<br>`, depthView(side, chain)])}`,
        blockLink(newest === undefined ? null : Number(newest), chain),
        pool.created_time === null ? 'unknown' : moment(new Date(pool.created_time * 1_000)),
      ];
    });
  const numbers = ['Price, USD', 'Weight, USD', 'Depth of each side', 'Newest state'].map(number);
  const columns = ['Pool', 'Exchange', 'Role', ...numbers, 'Created'];
  return html`${table({ label: `Candidates, ${chain}`, className: 'rows', columns, rows })}
${candidates.length > CANDIDATES_SHOWN && html`<p class="soft">The ${count(CANDIDATES_SHOWN)} deepest of ${count(candidates.length)}.</p>`}`;
}

const ROLES: readonly Candidate['role'][] = [
  'chosen',
  'counted',
  'not-among-deepest',
  'too-young',
  'too-shallow',
];

function roleView(role: Candidate['role']): Html | string {
  if (role === 'chosen') return html`<strong class="v-ok">chosen</strong>`;
  return role === 'counted' ? role : html`<span class="soft">${role.replaceAll('-', ' ')}</span>`;
}

/** The smaller of balance and virtual reserve. An unknown balance counts as no depth. */
function depthView(
  { token_address: token, decimals, balance, virtual_reserve: reserve }: Candidate['sides'][number],
  chain: string,
): Html {
  const of = accountLink(token, chain);
  if (balance === null) return html`<span class="v-warning">unknown</span> ${of}`;
  const units = reserve === null || BigInt(balance) < BigInt(reserve) ? balance : reserve;
  const [whole = '', digits = ''] = decimalAmount(units, decimals).split('.');
  return html`${digits === '' ? whole : `${whole}.${digits.slice(0, AMOUNT_DIGITS)}`} ${of}`;
}

const SOURCES: Readonly<Record<Anchor['source'], Html>> = {
  feed: html`feed`,
  pool: html`pool of ether and dollars`,
  assumed: html`<span class="v-warning">assumed: 1 US dollar</span>`,
};

function anchorsOf({ anchors }: PriceExplanation, chain: string): Html {
  const rows = anchors.map(
    ({ token_address: token, price_usd: price, source, feed, aggregator, block, log_index: log }) => [
      accountLink(token, chain),
      price,
      SOURCES[source],
      feed === null ? NONE : accountLink(feed, chain),
      aggregator === null ? NONE : accountLink(aggregator, chain),
      block === null ? NONE : html`${blockLink(Number(block), chain)}, log ${log}`,
    ],
  );
  return table({
    label: `Anchors, ${chain}`,
    className: 'rows',
    columns: ['Token', number('Price, USD'), 'Source', 'Feed', 'Aggregator', number('Value of block')],
    none: 'No anchor has a price at this block.',
    rows,
  });
}
