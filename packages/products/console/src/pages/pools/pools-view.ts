import type { Chain } from '@chainstead/chains';
import { type Address, isAddress, ZERO_ADDRESS } from '@chainstead/core';
import type { ListedPool } from '@chainstead/markets';
import { html } from 'hono/html';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';
import { NONE, short } from '../explorer/tables/cells.ts';

/** Uniswap v4: the hook sets the fee at each swap. */
const DYNAMIC_FEE = 0x80_00_00;
const PPM_PER_PERCENT = 10_000;
const SYMBOL_MAX = 20;
const PROBLEM_MAX = 300;

export interface PoolList {
  readonly pools: readonly ListedPool[];
  readonly count: number;
  readonly isWhole: boolean;
  readonly states: ReadonlyMap<string, number>;
  readonly next: string | null;
}

export function poolView(pool: ListedPool, chain: Chain, states: ReadonlyMap<string, number>): Html {
  const { key } = chain;
  const facts: readonly (readonly [title: string, value: Html])[] = [
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
  ];
  const rows = facts.filter(([, value]) => value !== NONE);
  return html`<section aria-labelledby="pool"><h2 id="pool">Pool</h2>
<dl class="record">${rows.map(([title, value]) => html`<div><dt>${title}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}

export function poolListView({ pools, count: all, isWhole, states, next }: PoolList, chain: Chain): Html {
  return html`<section aria-labelledby="pools"><h2 id="pools">Pools of this token</h2>
${pools.length === 0 ? html`<p class="soft">${all === 0 ? 'No pool of this token is known.' : 'No pools on this page.'}</p>` : tableOf(pools, chain, states)}
${!isWhole && html`<p class="soft">There are more pools than these ${count(all)}.</p>`}
<p class="soft">Disproved pools are not in this list. Look one up by its address.</p>
${next !== null && html`<p><a href="${next}" rel="next">Next page</a></p>`}</section>`;
}

function tableOf(pools: readonly ListedPool[], chain: Chain, states: ReadonlyMap<string, number>): Html {
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
  return table({
    label: `Pools of this token, ${chain.key}`,
    className: 'rows',
    columns: ['Pool', 'Exchange', 'Tokens', 'Status', 'Proof', number('Fee'), 'Counted', number('Newest state')],
    rows,
  });
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
  return html`${tokenLink(token0, symbol0, chain)} / ${tokenLink(token1, symbol1, chain)}${status !== 'proven' && html` <span class="soft">guessed</span>`}`;
}

function tokenLink(token: Address | null, symbol: string | null, { key, native }: Chain): Html {
  if (token === null) return html`unknown`;
  if (token === ZERO_ADDRESS) return html`${native.symbol}`;
  const name = symbol === null || symbol.trim() === '' ? html`<code>${short(token)}</code>` : shown(symbol, SYMBOL_MAX);
  return html`<a href="${poolsAddress(token, key)}" title="${token}">${name}</a>`;
}

export function poolLink(pool: string, chain: string): Html {
  return html`<a href="${poolsAddress(pool, chain)}" title="${pool}"><code>${short(pool)}</code></a>`;
}

function poolsAddress(address: string, chain: string): string {
  return `/console/pools?${new URLSearchParams({ chain, address })}`;
}

function feeView({ fee }: ListedPool): Html {
  if (fee === null) return NONE;
  return fee === DYNAMIC_FEE ? html`set by the hook` : html`${fee / PPM_PER_PERCENT} %`;
}

function countedView({ isCounted, status }: ListedPool): Html {
  if (isCounted) return html`yes`;
  return status === 'proven' ? html`no: its hook may change amounts` : html`no`;
}

export function blockLink(block: number | null, chain: string): Html {
  if (block === null) return NONE;
  return html`<a href="/console/look-up/block/${block}?chain=${encodeURIComponent(chain)}">${count(block)}</a>`;
}

function wholeLink(address: string | null, chain: string): Html {
  if (address === null) return NONE;
  return html`<a href="/console/look-up/address/${address}?chain=${encodeURIComponent(chain)}"><code>${address}</code></a>`;
}

function textOrNone(text: string | null): Html {
  return text === null ? NONE : shown(text);
}
