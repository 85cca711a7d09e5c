import { type BlockRange, rangeSize } from '@chainstead/core';
import { NotFoundError } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsolePage } from '../../console-page.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, moment, plainCount } from '../../layout/numbers.ts';
import type { ChainCard } from '../overview/chain-card.ts';
import type { ChainFacts, OverviewSource } from '../overview/read-overview.ts';
import { meaningOf, stripLegend, stripOf } from '../overview/strip-view.ts';
import { type ListedRange, listRanges } from './list-ranges.ts';
import { nodesView } from './nodes-view.ts';
import { readRange } from './read-range.ts';

/** Of a table; the rest is a narrower range away. */
const RANGES_SHOWN = 500;
const DAY_SECONDS = 86_400;
const NAME = '/chains/:chain';

/** One chain: its history as near as one likes, its lag by the minute, its nodes. */
export const chainPage: ConsolePage = {
  path: '/chains',
  title: 'Chain',
  inMenu: false,
  addRoutes(routes, { overview, upstreams, clock }) {
    routes.view(NAME, async ({ parameter, query }) => {
      const facts = await factsOf(overview, parameter('chain'));
      const whole = facts.card.history?.range ?? { from: 0, to: 0 };
      const wanted = readRange(query('from'), query('to'), whole);
      const history = chainView(facts, whole, wanted, cut(query('dataset') ?? ''));
      return { title: cut(facts.card.name), body: html`${history}\n${nodesView(facts, upstreams.addressOf)}` };
    });
    routes.view(`${NAME}/lag.json`, async ({ parameter }) => {
      const facts = await factsOf(overview, parameter('chain'));
      const samples = await overview.samples(facts);
      const to = Math.floor(clock.now() / 1_000);
      const plot = {
        labels: ['behind'],
        unit: facts.card.unit,
        range: [to - DAY_SECONDS, to],
        times: samples.map(({ minute }) => minute.getTime() / 1_000),
        values: [samples.map(({ lag }) => lag)],
      };
      return { content: JSON.stringify(plot), type: 'application/json' };
    });
  },
};

/** @throws NotFoundError */
async function factsOf(overview: OverviewSource, name: string): Promise<ChainFacts> {
  const facts = await overview.chain(name);
  if (facts === null) throw new NotFoundError(`Nothing was ever ingested of a chain ${cut(name, 40)}`);
  return facts;
}

/** @param dataset whose ranges are listed; empty: of all */
function chainView(facts: ChainFacts, whole: BlockRange, wanted: BlockRange, dataset: string): Html {
  const { card } = facts;
  const address = `/console/chains/${encodeURIComponent(card.name)}`;
  const isZoomed = wanted.from !== whole.from || wanted.to !== whole.to;
  const ranges = listRanges(facts, wanted).filter((one) => dataset === '' || one.dataset === dataset);
  return html`<h1>${shown(card.name)}</h1>
${problemView(card)}
<p>Head ${card.head === null ? 'unknown' : count(card.head)}, indexed to ${card.checkpoint === null ? 'nothing yet' : count(card.checkpoint)}${card.lag === null ? NOTHING : html`, ${count(card.lag)} ${card.unit} behind`}.
${card.updatedAt === null ? NOTHING : html`<span class="soft">As of ${moment(card.updatedAt)}.</span>`}</p>
<section aria-labelledby="lag"><h2 id="lag">Behind, over the last 24 hours</h2>
<div class="card plot" data-plot="${address}/lag.json">The plot needs script; the overview has the numbers.</div></section>
<section aria-labelledby="history"><h2 id="history">History</h2>
<p>${card.unit === 'blocks' ? 'Blocks' : 'Versions'} ${count(wanted.from)} to ${count(wanted.to)}${isZoomed ? html` of ${count(whole.from)} to ${count(whole.to)}. <a href="${address}">All of it</a>` : '.'}</p>
${stripLegend()}
${stripOf(wanted, card.history?.levels ?? [], { address, unit: card.unit })}
${rangeForm(address, wanted, dataset)}
${dataset === '' ? NOTHING : html`<p>Ranges of ${shown(dataset)} alone. <a href="${address}?from=${wanted.from}&amp;to=${wanted.to}">All datasets</a></p>`}
${rangesView(ranges, card.unit)}</section>`;
}

function problemView({ problem }: ChainCard): Html {
  if (problem === null) return NOTHING;
  return html`<p class="problem"><strong>${problem.title}.</strong> ${shown(problem.text, 2_000)} <br>${problem.advice}</p>`;
}

function rangeForm(address: string, { from, to }: BlockRange, dataset: string): Html {
  return html`<form method="get" action="${address}" class="fields row" aria-label="Show a part of the history">
${dataset === '' ? NOTHING : html`<input type="hidden" name="dataset" value="${dataset}">`}
<div><label for="from">From</label><input id="from" name="from" inputmode="numeric" pattern="[0-9]*" value="${from}"></div>
<div><label for="to">To</label><input id="to" name="to" inputmode="numeric" pattern="[0-9]*" value="${to}"></div>
<div><button class="quiet">Show</button></div></form>`;
}

function rangesView(ranges: readonly ListedRange[], unit: string): Html {
  if (ranges.length === 0) return html`<p class="soft">Nothing is known of this range.</p>`;
  const rows = ranges.slice(0, RANGES_SHOWN).map(
    ({
      dataset,
      range,
      level,
      note,
    }) => html`<tr><td>${shown(dataset)}</td><td class="number">${count(range.from)}</td><td class="number">${count(range.to)}</td>
<td class="number">${count(rangeSize(range))}</td><td>${meaningOf(level)}</td><td>${note === null ? '–' : shown(note)}</td></tr>`,
  );
  const more = ranges.length - RANGES_SHOWN;
  return html`<div class="table" tabindex="0" role="region" aria-label="Ranges"><table><caption>Ranges by dataset${more > 0 ? `; ${plainCount(more)} more are not shown: choose a smaller part` : ''}</caption>
<thead><tr><th scope="col">Dataset</th><th scope="col" class="number">From</th><th scope="col" class="number">To</th><th scope="col" class="number">${unit}</th><th scope="col">Proof</th><th scope="col">Node, or reason</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
