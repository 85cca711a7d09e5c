import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import {
  code,
  cut,
  dash,
  factList,
  type Html,
  livePart,
  NONE,
  NOTHING,
  nameParts,
  note,
  section,
  shown,
} from '../../layout/html.ts';
import {
  count,
  counted,
  duration,
  moment,
  percent,
  plainCount,
  rate,
  streamStatusView,
} from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';
import { stripLegend, stripOf } from './coverage-strip.ts';
import type { ChainCard, Overview } from './read-overview.ts';
import { addSpeedPlots, speedPlots } from './speed-plots.ts';

export const overviewPage: ConsolePage = {
  path: '',
  title: 'Overview',
  addRoutes(routes, services) {
    const { overview } = services;
    addSpeedPlots(routes, services);
    routes.view('', async () => ({
      body: html`${livePart('/overview', overviewView(await overview.read()))}
${await speedPlots(overview)}`,
    }));
    routes.live('/overview', async () => overviewView(await overview.read()));
  },
};

const PROBLEM_MAX = 600;

export function overviewView({ chains, streams, setAside, requests, at }: Overview): Html {
  const attention = chains.filter(({ problem }) => problem !== null).length;
  return html`<p class="soft">As of ${moment(at)}. ${
    attention === 0
      ? 'No chain needs attention.'
      : html`<strong>${count(attention)} of ${count(chains.length)} chains need attention.</strong>`
  }</p>
${chains.length === 0 ? html`<p>No chain is indexed yet. Set <code>CHAINS</code> and restart.</p>` : stripLegend()}
<section aria-label="Chains" class="cards">${chains.map(cardView)}</section>
${section('streams', 'Streams', streamsView(streams))}
${requests.length > 0 && section('requests', 'API requests', requestsView(requests))}
${setAside.length > 0 && section('aside', 'Quarantined work', setAsideView(setAside))}`;
}

function cardView(card: ChainCard): Html {
  const { name, unit, history, problem } = card;
  const address = `/console/chains/${encodeURIComponent(name)}`;
  const { part = 0, missing = 0, perSecond = null, secondsLeft = null } = history ?? {};
  const left =
    secondsLeft === null || perSecond === null
      ? ''
      : `, ${rate(perSecond)}/s, about ${duration(secondsLeft)} left`;
  const coverage = missing === 0 ? 'complete' : html`${percent(part)} (${count(missing)} ${unit} missing${left})`;
  return html`<article class="card${problem === null ? '' : ' bad'}" id="chain-${cut(name)}" aria-label="${cut(name)}">
<h2>${history === null ? shown(name) : html`<a href="${address}">${shown(name)}</a>`}</h2>
${problem !== null && html`<p class="problem"><strong>${problem.title}.</strong> ${shown(problem.text, PROBLEM_MAX)} <br>${problem.advice}</p>`}
${factList('', [
  ['Head', dash(card.head, count)],
  ['Checkpoint', html`${dash(card.checkpoint, count)}${card.isDone && ', end reached'}`],
  ['Lag', dash(card.lag, (lag) => html`${count(lag)} ${unit}`)],
  [
    'Speed',
    html`${dash(card.perSecond, (speed) => `${rate(speed)} ${unit}/s`)}${card.rowsPerSecond !== null && `, ${rate(card.rowsPerSecond)} rows/s`}`,
  ],
  ['Coverage', history === null ? NONE : coverage],
])}
${sparkline(card.lags, `Lag in ${unit} over the last 24 hours`)}
${history !== null && stripOf(history.range, history.levels, address, unit)}
</article>`;
}

function streamsView({ counts, webhooksPending, blocksDeferred, failing }: Overview['streams']): Html {
  const states = Object.entries(counts).map(([status, streams]) => `${plainCount(streams)} ${status}`);
  if (states.length === 0) return note('There are no streams.');
  const rows = failing.map(({ id, tag, status, message }) => [
    html`<a href="/console/streams/${id}">${shown(tag || id)}</a><br><code>${shown(id)}</code>`,
    streamStatusView(status),
    shown(message, PROBLEM_MAX),
  ]);
  const list = table({
    label: 'Failing streams',
    caption: 'Failing streams, last changed first',
    columns: ['Stream', 'Status', 'Reason'],
    rows,
  });
  const later =
    blocksDeferred > 0 &&
    html`<p>${counted(blocksDeferred, 'block', 'blocks')} to match later, because of the work of a key per block.</p>`;
  return html`<p>${states.join(', ')}; ${counted(webhooksPending, 'webhook', 'webhooks')} pending.</p>${later}
${failing.length > 0 && list}`;
}

const ROUTES_SHOWN = 10;

type Statuses = Pick<Overview['requests'][number], 'requests' | 'refused' | 'failed' | 'unserved'>;

function requestsView(requests: Overview['requests']): Html {
  const cells = ({ requests: requested, refused, failed, unserved }: Statuses) =>
    [requested, requested - refused - failed - unserved, refused, failed, unserved].map(count);
  const sum = (of: keyof Statuses) => requests.reduce((total, row) => total + row[of], 0);
  const all = {
    requests: sum('requests'),
    refused: sum('refused'),
    failed: sum('failed'),
    unserved: sum('unserved'),
  };
  const rows = requests
    .slice(0, ROUTES_SHOWN)
    .map((row) => [code(nameParts(`${row.method} ${row.route}`)), ...cells(row)]);
  return table({
    label: 'API requests by route and status',
    caption: html`Today and yesterday (UTC), by all keys. 501: not served here${requests.length > ROUTES_SHOWN && `. The ${ROUTES_SHOWN} routes with the most requests of ${plainCount(requests.length)}`}`,
    columns: ['Route', ...['All', 'Success', '4xx', '5xx', '501'].map(number)],
    rows: [['All routes', ...cells(all)], ...rows],
  });
}

function setAsideView(work: Overview['setAside']): Html {
  const rows = work.map(({ name, crashes, reason }) => [
    shown(reason === null ? name : `${name}: ${reason}`),
    count(crashes),
  ]);
  return table({
    caption: 'Work that ended processes, or that could not be read. Chainstead does not retry it automatically.',
    columns: ['Work', number('Crashes')],
    rows,
  });
}

const WIDTH = 240;
const HEIGHT = 34;

const MARGIN = 2;
const POINTS_MIN = 2;

function sparkline(values: readonly (number | null)[], what: string): Html {
  const known = values.filter((value) => value !== null);
  const last = known.at(-1);
  if (known.length < POINTS_MIN || last === undefined) return NOTHING;
  const top = Math.max(1, ...known);
  const x = (index: number): string => ((index * WIDTH) / (values.length - 1)).toFixed(1);
  const y = (value: number): string => (HEIGHT - MARGIN - (value / top) * (HEIGHT - 2 * MARGIN)).toFixed(1);
  const lines: string[][] = [[]];
  for (const [index, value] of values.entries())
    if (value === null) lines.push([]);
    else lines.at(-1)?.push(`${x(index)},${y(value)}`);
  const drawn = lines.filter((points) => points.length > 0);
  const label = `${what}: ${plainCount(last)} now, maximum ${plainCount(top)}`;
  return html`<svg class="line" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}"><title>${label}</title>${drawn.map((points) => html`<polyline points="${points.join(' ')}"/>`)}</svg>`;
}
