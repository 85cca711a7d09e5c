import { type Address, decimalAmount } from '@chainstead/core';
import { type PriceExplanation, type ShownTokenPrice, tokenPriceView } from '@chainstead/prices';
import { html } from 'hono/html';
import type { ConsoleRequest, ExplorerServices } from '../../console-page.ts';
import { code, dash, type Html, NOTHING, note, record, section, shown, soft } from '../../layout/html.ts';
import { count, duration, moment, plainCount } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';
import { candlePlot } from '../explorer/candles.ts';
import { accountLink, blockLink, poolLink } from '../explorer/tables/cells.ts';
import { answerNote, curlLine, curlView, readTableWithin, recordTable } from '../explorer/tables/data-table.ts';

const CANDIDATES_SHOWN = 100;
const AMOUNT_DIGITS = 4;
/** For the first request of a token. */
const PATIENCE_MS = 4_000;
const REASON_MAX = 400;

type Candidate = PriceExplanation['candidates'][number];
type Anchor = PriceExplanation['anchors'][number];

interface WantedPrice {
  readonly chain: string;
  readonly token: Address;
  /** Null: the newest indexed one. */
  readonly block: number | null;
}

/** The response of the API for the block: at the first request, it reads balances from an upstream. */
export async function priceSection(
  { origin, asker }: ConsoleRequest,
  { data }: ExplorerServices,
  { chain, token, block }: WantedPrice,
): Promise<Html> {
  const path = `/api/v2.2/erc20/${token}/price`;
  const query = { explain: 'true', ...(block !== null && { to_block: String(block) }) };
  const of = { chain, address: token, tokenId: null };
  const requested = recordTable('token-price', 'Price', () => [path, query], []);
  const answer = await readTableWithin(PATIENCE_MS, data, asker, requested, { of, limit: 1, cursor: null });
  const price = answer.kind === 'rows' ? tokenPriceView.schema.parse(answer.rows[0]) : null;
  const { explanation } = price ?? {};
  if (price === null || explanation === undefined)
    return section(
      'price',
      'Price',
      html`<p>No price at ${block === null ? 'the newest indexed block' : html`block ${blockLink(block, chain)}`}: ${answer.kind === 'reported' ? shown(answer.message, REASON_MAX) : 'upstreams take longer than this page waits. Reload the page in a moment.'}</p>`,
      answerNote(answer),
      curlView(curlLine(origin, answer.target)),
    );
  const command = `npx chainstead explain-price --chain ${chain} --token ${token} --block ${explanation.block}`;
  const chosen = explanation.candidates.find(({ role }) => role === 'chosen');
  const { from_block: from, to_block: to, complete } = price.indexed;
  const incomplete = html`<p class="problem"><strong>Not complete:</strong> missing blocks, proofs or balances may change this price. Blocks ${from} to ${to} are indexed.</p>`;
  const repeated = new URLSearchParams({ chain, to_block: explanation.block, explain: 'true' });
  return html`<section aria-labelledby="price"><h2 id="price">Price at block ${plainCount(Number(explanation.block))}</h2>
${!complete && incomplete}
${factsOf(price, explanation, chain)}
${chosen !== undefined && candlePlot(chain, chosen.pair_address)}
<section aria-labelledby="candidates"><h3 id="candidates">Candidates</h3>${candidatesOf(explanation, chain)}</section>
<section aria-labelledby="anchors"><h3 id="anchors">Anchors</h3>${anchorsOf(explanation, chain)}</section>
${curlView(curlLine(origin, `${path}?${repeated}`))}
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
  const dollars = (value: string): string => `${value} USD`;
  const hold = `a jump by ${rules.jump_limit} holds ${duration(rules.hold_seconds)}`;
  const limits = `window ${duration(rules.window_seconds)}, ${hold}, ${rules.pools_max} pools`;
  return record([
    ['Price', html`<strong>${price.usdPriceFormatted} USD</strong>${symbol}`],
    ['End of block', html`${blockLink(Number(explanation.block), chain)}, ${moment(new Date(time * 1_000))}`],
    ['Rule', RULES[rule]],
    ['Median of the window', dash(explanation.median_usd, dollars)],
    ['Held for', dash(explanation.held_seconds, duration)],
    ['Cost of raising it by 10 %', dash(cost, (value) => `${bound}${value} USD`)],
    ['Ether', dash(explanation.ether_usd, dollars)],
    ['Limits', `${rules.min_side_usd} USD on each side, ${limits}`],
    ['Exact price', code(`${explanation.price_numerator} / ${explanation.price_denominator}`)],
  ]);
}

function candidatesOf({ rule, candidates }: PriceExplanation, chain: string): Html {
  if (candidates.length === 0)
    return note(rule === 'anchor' ? 'An anchor needs no pool.' : 'No pool was considered.');
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
${candidates.length > CANDIDATES_SHOWN && note(html`The ${count(CANDIDATES_SHOWN)} deepest of ${count(candidates.length)}.`)}`;
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
  return role === 'counted' ? role : soft(role.replaceAll('-', ' '));
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
      dash(feed, (address) => accountLink(address, chain)),
      dash(aggregator, (address) => accountLink(address, chain)),
      dash(block, (number) => html`${blockLink(Number(number), chain)}, log ${log}`),
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
