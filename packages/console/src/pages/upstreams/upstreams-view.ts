import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment, percent, plainCount, rate } from '../../layout/numbers.ts';
import { nodeStateView } from '../../layout/severity.ts';
import { number, table, wide } from '../../layout/table.ts';
import { kindsText } from '../../layout/upstream-sums.ts';
import type { NodeAddress } from './node-address.ts';
import type { Upstreams } from './read-upstreams.ts';
import type { UpstreamRow } from './upstream-row.ts';
import { wrongAnswersTable } from './wrong-answers-view.ts';

const REASON_MAX = 300;

/** The live part of the page. */
export function upstreamsView({ rows, wrongAnswers, at }: Upstreams, addressOf: NodeAddress): Html {
  const chains = Map.groupBy(rows, ({ chain }) => chain);
  return html`<p class="soft">As of ${moment(at)}. Calls, latencies and errors: all processes, last hour. Requests/s and in flight: last 10 to 20 minutes.</p>
${rows.length === 0 ? html`<p>No nodes are configured or in use.</p>` : [...chains].map(([chain, ofChain]) => chainView(chain, ofChain))}
<section aria-labelledby="caught"><h2 id="caught">Wrong responses</h2>
${
  wrongAnswers.length === 0
    ? html`<p class="soft">No wrong responses recorded.</p>`
    : html`${wrongAnswersTable(wrongAnswers, addressOf)}<p><a href="/console/upstreams/wrong-answers">All wrong responses</a></p>`
}</section>`;
}

function chainView(chain: string, rows: readonly UpstreamRow[]): Html {
  const title = cut(chain);
  const nodes = table({
    label: `Nodes of ${title}`,
    columns: [
      wide('Node', 'name'),
      wide('State', 'name'),
      ...['Head', 'p50 / p95', 'Calls'].map(number),
      wide('Errors', 'name'),
      ...['Requests/s', 'In flight'].map(number),
    ],
    rows: rows.map(cellsOf),
  });
  return html`<section aria-label="${title}"><h2>${shown(chain)}</h2>${nodes}</section>`;
}

function cellsOf(row: UpstreamRow): (Html | string)[] {
  const { budget, half: p50, most: p95 } = row;
  return [
    html`${shown(row.address)}${row.isPrivate ? html`<br><span class="soft">private</span>` : NOTHING}${row.isConfigured ? NOTHING : html`<br><span class="soft">not configured for this process</span>`}`,
    stateView(row),
    row.head === null ? '–' : count(row.head),
    p50 === null || p95 === null ? '–' : `${Math.round(p50)} / ${Math.round(p95)} ms`,
    count(row.calls),
    errorsView(row),
    html`${rate(budget.perSecond)}${budget.perSecondMax === null ? NOTHING : html` of ${plainCount(budget.perSecondMax)}${usedView(budget.perSecond / budget.perSecondMax)}`}`,
    html`${rate(budget.atOnce)}${budget.atOnceMax === null ? NOTHING : ` of ${plainCount(budget.atOnceMax)}`}`,
  ];
}

function stateView({ state, reason }: UpstreamRow): Html {
  if (state === null) return html`<span class="soft">not reported</span>`;
  return nodeStateView(state, reason, REASON_MAX);
}

function errorsView({ errorShare, faults }: UpstreamRow): Html {
  if (errorShare === null) return html`–`;
  return html`${percent(errorShare)}${faults.size === 0 ? NOTHING : html` <span class="soft">(${kindsText(faults)})</span>`}`;
}

const NEARLY_USED = 0.9;

function usedView(share: number): Html {
  return share < NEARLY_USED ? NOTHING : html` <span class="v-warning">(near limit)</span>`;
}

/** The form that tests a node. @param chains that are known */
export function testForm(token: string, chains: readonly string[], first: string): Html {
  return html`<section aria-labelledby="test"><h2 id="test">Test a node</h2>
<p class="soft">Checks whether a node suits a chain, before you configure it: client, head, history, limits and speed. Takes up to 20 seconds and a few hundred calls.
<code>chainstead doctor</code> runs the same test. This server calls the URL, which may be in your own network. The URL is not stored.</p>
${changeForm(
  '/console/upstreams/test',
  token,
  html`<div class="fields"><div><label for="chain">Chain</label><input id="chain" name="chain" type="text" list="chains" value="${first}" required maxlength="64" autocomplete="off">
<datalist id="chains">${chains.map((chain) => html`<option value="${chain}"></option>`)}</datalist></div>
<div><label for="url">URL</label><input id="url" name="url" type="text" inputmode="url" placeholder="https://node.example.com/v2/key" required maxlength="2000" autocomplete="off" spellcheck="false"></div>
<div><button>Test node</button></div></div>`,
  'Test a node',
)}</section>`;
}
