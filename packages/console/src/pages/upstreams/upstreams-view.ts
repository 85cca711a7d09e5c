import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment, percent, plainCount, rate } from '../../layout/numbers.ts';
import { kindsText } from '../../layout/upstream-sums.ts';
import type { NodeAddress } from './node-address.ts';
import type { Upstreams } from './read-upstreams.ts';
import type { UpstreamRow } from './upstream-row.ts';
import { wrongAnswersTable } from './wrong-answers-view.ts';

const REASON_MAX = 300;

/** All of the page that moves. */
export function upstreamsView({ rows, wrongAnswers, at }: Upstreams, addressOf: NodeAddress): Html {
  const chains = Map.groupBy(rows, ({ chain }) => chain);
  return html`<p class="soft">As of ${moment(at)}. Calls, times and errors are those of all processes over the last hour; <em>now</em> is the last 10 to 20 minutes.</p>
${rows.length === 0 ? html`<p>No node is configured, and none was ever asked.</p>` : [...chains].map(([chain, ofChain]) => chainView(chain, ofChain))}
<section aria-labelledby="caught"><h2 id="caught">Caught in wrong answers</h2>
${
  wrongAnswers.length === 0
    ? html`<p class="soft">None was.</p>`
    : html`${wrongAnswersTable(wrongAnswers, addressOf)}<p><a href="/console/upstreams/wrong-answers">All of them</a></p>`
}</section>`;
}

function chainView(chain: string, rows: readonly UpstreamRow[]): Html {
  const title = cut(chain);
  return html`<section aria-label="${title}"><h2>${shown(chain)}</h2><div class="table" tabindex="0" role="region" aria-label="Nodes of ${title}"><table>
<thead><tr><th scope="col">Node</th><th scope="col">State</th><th scope="col" class="number">Head</th><th scope="col" class="number">Half, 95 % within</th><th scope="col" class="number">Calls</th><th scope="col">Errors</th><th scope="col" class="number">A second now</th><th scope="col" class="number">At once now</th></tr></thead>
<tbody>${rows.map(rowView)}</tbody></table></div></section>`;
}

function rowView(row: UpstreamRow): Html {
  const { budget } = row;
  return html`<tr><td class="name">${shown(row.address)}${row.isPrivate ? html`<br><span class="soft">private</span>` : NOTHING}${row.isConfigured ? NOTHING : html`<br><span class="soft">not configured for this process</span>`}</td>
<td class="name">${stateView(row)}</td><td class="number">${row.head === null ? '–' : count(row.head)}</td>
<td class="number">${row.half === null || row.most === null ? '–' : `${Math.round(row.half)} / ${Math.round(row.most)} ms`}</td>
<td class="number">${count(row.calls)}</td><td class="name">${errorsView(row)}</td>
<td class="number">${rate(budget.perSecond)}${budget.perSecondMax === null ? NOTHING : html` of ${plainCount(budget.perSecondMax)}${usedView(budget.perSecond / budget.perSecondMax)}`}</td>
<td class="number">${rate(budget.atOnce)}${budget.atOnceMax === null ? NOTHING : ` of ${plainCount(budget.atOnceMax)}`}</td></tr>`;
}

function stateView({ state, reason }: UpstreamRow): Html {
  if (state === null) return html`<span class="soft">not reported</span>`;
  const verdict =
    state === 'healthy' || state === 'ok' ? 'ok' : state === 'degraded' || state === 'paused' ? 'warning' : 'bad';
  return html`<span class="v-${verdict}">${shown(state)}</span>${reason === null ? NOTHING : html`: ${shown(reason, REASON_MAX)}`}`;
}

function errorsView({ errorShare, faults }: UpstreamRow): Html {
  if (errorShare === null) return html`–`;
  return html`${percent(errorShare)}${faults.size === 0 ? NOTHING : html` <span class="soft">(${kindsText(faults)})</span>`}`;
}

const NEARLY_USED = 0.9;

function usedView(share: number): Html {
  return share < NEARLY_USED ? NOTHING : html` <span class="v-warning">(used up)</span>`;
}

/** Asks for a node to be tried. @param chains that are known */
export function testForm(token: string, chains: readonly string[], first: string): Html {
  return html`<section aria-labelledby="test"><h2 id="test">Test a node</h2>
<p class="soft">Whether a node is good for a chain, before you configure it: who it is, its head, history, limits and speed, in up to 20 seconds and some hundred calls.
<code>chainstead doctor</code> does the same. The address is asked from this server, may be in your own network, and is shown and kept nowhere.</p>
${changeForm(
  '/console/upstreams/test',
  token,
  html`<div class="fields"><div><label for="chain">Chain</label><input id="chain" name="chain" type="text" list="chains" value="${first}" required maxlength="64" autocomplete="off">
<datalist id="chains">${chains.map((chain) => html`<option value="${chain}"></option>`)}</datalist></div>
<div><label for="url">Address</label><input id="url" name="url" type="text" inputmode="url" placeholder="https://node.example.com/v2/key" required maxlength="2000" autocomplete="off" spellcheck="false"></div>
<div><button>Test it</button></div></div>`,
  'Test a node',
)}</section>`;
}
