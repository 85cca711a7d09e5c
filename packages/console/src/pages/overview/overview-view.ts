import { html } from 'hono/html';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, duration, moment, percent, plainCount, rate } from '../../layout/numbers.ts';
import type { ChainCard } from './chain-card.ts';
import type { Overview } from './read-overview.ts';
import { sparkline } from './sparkline.ts';
import { stripLegend, stripOf } from './strip-view.ts';

const PROBLEM_MAX = 600;

/** All of the overview that moves. */
export function overviewView({ chains, streams, setAside, at }: Overview): Html {
  const attention = chains.filter(({ problem }) => problem !== null).length;
  return html`<p class="soft">As of ${moment(at)}. ${
    attention === 0
      ? 'No chain needs attention.'
      : html`<strong>${count(attention)} of ${count(chains.length)} chains need attention.</strong>`
  }</p>
${chains.length === 0 ? html`<p>No chain has been ingested yet: set <code>CHAINS</code> and start again.</p>` : stripLegend()}
<section aria-label="Chains" class="cards">${chains.map(cardView)}</section>
<section aria-labelledby="streams"><h2 id="streams">Streams</h2>${streamsView(streams)}</section>
${setAside.length === 0 ? NOTHING : html`<section aria-labelledby="aside"><h2 id="aside">Work that was set aside</h2>${setAsideView(setAside)}</section>`}`;
}

function cardView(card: ChainCard): Html {
  const { name, unit, history, problem } = card;
  const address = `/console/chains/${encodeURIComponent(name)}`;
  const what = unit === 'blocks' ? 'block' : 'version';
  return html`<article class="card${problem === null ? '' : ' bad'}" id="chain-${cut(name)}" aria-label="${cut(name)}">
<h2>${history === null ? shown(name) : html`<a href="${address}">${shown(name)}</a>`}</h2>
${problem === null ? NOTHING : html`<p class="problem"><strong>${problem.title}.</strong> ${shown(problem.text, PROBLEM_MAX)} <br>${problem.advice}</p>`}
<dl class="facts">
<dt>Head</dt><dd>${orDash(card.head)}</dd>
<dt>Indexed to</dt><dd>${orDash(card.checkpoint)}${card.isDone ? ', all that is wanted' : NOTHING}</dd>
<dt>Behind</dt><dd>${card.lag === null ? '–' : html`${count(card.lag)} ${unit}`}</dd>
<dt>Pace</dt><dd>${card.perSecond === null ? '–' : `${rate(card.perSecond)} ${unit}/s`}${card.rowsPerSecond === null ? '' : `, ${rate(card.rowsPerSecond)} rows/s`}</dd>
<dt>History</dt><dd>${history === null ? '–' : historyText(history, what)}</dd>
</dl>
${sparkline(card.lags, `${what}s behind, over the last 24 hours`)}
${history === null ? NOTHING : stripOf(history.range, history.levels, { address, unit })}
</article>`;
}

function orDash(value: number | null): Html | string {
  return value === null ? '–' : count(value);
}

function historyText({ part, missing, secondsLeft }: NonNullable<ChainCard['history']>, what: string): Html {
  if (missing === 0) return html`complete`;
  const left = secondsLeft === null ? '' : `, about ${duration(secondsLeft)} left`;
  return html`${percent(part)} (${count(missing)} ${what}s missing${left})`;
}

function streamsView({ counts, webhooksPending, failing }: Overview['streams']): Html {
  const states = Object.entries(counts).map(([status, streams]) => `${plainCount(streams)} ${status}`);
  if (states.length === 0) return html`<p class="soft">There are no streams.</p>`;
  return html`<p>${states.join(', ')}; ${count(webhooksPending)} ${webhooksPending === 1 ? 'webhook' : 'webhooks'} pending.</p>
${failing.length === 0 ? NOTHING : failingView(failing)}`;
}

function failingView(failing: Overview['streams']['failing']): Html {
  const rows = failing.map(
    ({ id, tag, status, message }) =>
      html`<tr><td><a href="/console/streams/${id}">${shown(tag || id)}</a><br><code>${shown(id)}</code></td><td>${status}</td><td>${shown(message, PROBLEM_MAX)}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="Streams that do not deliver"><table><caption>Streams that do not deliver, the last changed first</caption>
<thead><tr><th scope="col">Stream</th><th scope="col">Status</th><th scope="col">Why</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function setAsideView(work: Overview['setAside']): Html {
  const rows = work.map(
    ({ name, crashes }) => html`<tr><td>${shown(name)}</td><td class="number">${count(crashes)}</td></tr>`,
  );
  return html`<div class="table"><table><caption>Processes ended while they did it. It is not tried again by itself.</caption>
<thead><tr><th scope="col">Work</th><th scope="col" class="number">Deaths</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
