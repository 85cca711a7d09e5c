import { type BlockRange, rangeSize } from '@chainstead/core';
import { NotFoundError } from '@chainstead/http';
import { type ChainStatus, rangesFromSource } from '@chainstead/sync/ingest';
import { html } from 'hono/html';
import { type ConsolePage, jsonFile } from '../../console-page.ts';
import { field, hiddenInputs, queryForm } from '../../layout/form.ts';
import {
  cut,
  dash,
  type Html,
  NOTHING,
  nameParts,
  plot,
  refused,
  section,
  shown,
  soft,
} from '../../layout/html.ts';
import { count, moment, nodeStateView, plainCount, severityView } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';
import { meaningOf, stripLegend, stripOf } from '../overview/coverage-strip.ts';
import type { ChainFacts, OverviewSource } from '../overview/read-overview.ts';
import type { NodeAddress } from '../upstreams/read-upstreams.ts';

const RANGES_SHOWN = 500;
/** A line of one point shows nothing. */
const LAGS_MIN = 2;
const NAME = '/chains/:chain';
const DIGITS = /^\d{1,15}$/;

export const chainPage: ConsolePage = {
  path: '/chains',
  title: 'Chain',
  inMenu: false,
  addRoutes(routes, { overview, upstreams, clock }) {
    routes.view(NAME, async ({ parameter, query }) => {
      const facts = await factsOf(overview, parameter('chain'));
      const whole = facts.card.history?.range ?? { from: 0, to: 0 };
      const wanted = {
        from: readBlock('from', query('from')) ?? whole.from,
        to: readBlock('to', query('to')) ?? whole.to,
      };
      if (wanted.from > wanted.to) throw refused('to', query('to') ?? '', `${wanted.from} or more`);
      const samples = await overview.samples(facts);
      const lagPlot = plot(
        `${chainAddress(facts.card)}/lag.json`,
        'The plot needs JavaScript. The overview shows the numbers.',
      );
      const lag = samples.length >= LAGS_MIN && section('lag', 'Lag, last 24 hours', lagPlot);
      const history = chainView(facts, whole, wanted, cut(query('dataset') ?? ''));
      return {
        title: cut(facts.card.name),
        heading: shown(facts.card.name),
        body: html`${headView(facts)}\n${lag}\n${history}\n${nodesView(facts, upstreams.addressOf)}\n${sourcesView(facts, clock.now())}`,
      };
    });
    routes.view(`${NAME}/lag.json`, async ({ parameter }) => {
      const facts = await factsOf(overview, parameter('chain'));
      const samples = await overview.samples(facts);
      const to = Math.floor(clock.now() / 1_000);
      return jsonFile({
        labels: ['lag'],
        unit: facts.card.unit,
        range: [(samples[0]?.minute.getTime() ?? 0) / 1_000, to],
        times: samples.map(({ minute }) => minute.getTime() / 1_000),
        values: [samples.map(({ lag }) => lag)],
      });
    });
  },
};

async function factsOf(overview: OverviewSource, name: string): Promise<ChainFacts> {
  const facts = await overview.chain(name);
  if (facts === null) throw new NotFoundError(`Chain ${cut(name, 40)} was never indexed here`);
  return facts;
}

function headView({ card }: ChainFacts): Html {
  const { problem } = card;
  return html`${problem !== null && html`<p class="problem"><strong>${problem.title}.</strong> ${shown(problem.text, 2_000)} <br>${problem.advice}</p>`}
<p>${standingText(card)}
${card.updatedAt !== null && soft(html`As of ${moment(card.updatedAt)}.`)}</p>`;
}

function standingText({ head, checkpoint, lag, unit, isDone }: ChainFacts['card']): Html {
  // Past its end, no process reads the head.
  if (head === null && checkpoint !== null && isDone)
    return html`Indexed to its configured end, ${unit === 'blocks' ? 'block' : 'version'} ${count(checkpoint)}.`;
  return html`Head ${head === null ? 'unknown' : count(head)}, checkpoint ${checkpoint === null ? 'none' : count(checkpoint)}${lag !== null && html`, lag ${count(lag)} ${unit}`}.`;
}

function chainAddress({ name }: ChainFacts['card']): string {
  return `/console/chains/${encodeURIComponent(name)}`;
}

function chainView(facts: ChainFacts, whole: BlockRange, wanted: BlockRange, dataset: string): Html {
  const { card } = facts;
  const address = chainAddress(card);
  const isZoomed = wanted.from !== whole.from || wanted.to !== whole.to;
  const ranges = listRanges(facts, wanted).filter((listed) => dataset === '' || listed.dataset === dataset);
  return section(
    'history',
    'Coverage',
    html`<p>${card.unit === 'blocks' ? 'Blocks' : 'Versions'} ${count(wanted.from)} to ${count(wanted.to)}${isZoomed ? html` of ${count(whole.from)} to ${count(whole.to)}. <a href="${address}">Show all</a>` : '.'}</p>
${stripLegend()}
${stripOf(wanted, card.history?.levels ?? [], address, card.unit)}
${queryForm(address, 'Show a range', [
  dataset === '' ? NOTHING : hiddenInputs({ dataset }),
  field('from', { label: 'From', ...BLOCK }, wanted.from),
  field('to', { label: 'To', ...BLOCK }, wanted.to),
])}
${dataset !== '' && html`<p>Only ranges of ${shown(dataset)}. <a href="${address}?from=${wanted.from}&amp;to=${wanted.to}">All datasets</a></p>`}
${rangesView(ranges, card.unit)}`,
  );
}

const BLOCK = { digits: true, attributes: 'pattern="[0-9]*"' } as const;

function rangesView(ranges: readonly ListedRange[], unit: string): Html {
  const rows = ranges
    .slice(0, RANGES_SHOWN)
    .map(({ dataset, range, level, note }) => [
      nameParts(dataset),
      count(range.from),
      count(range.to),
      count(rangeSize(range)),
      meaningOf(level),
      dash(note, shown),
    ]);
  const more = ranges.length - RANGES_SHOWN;
  return table({
    label: 'Ranges',
    caption: html`Ranges by dataset${more > 0 ? `. ${plainCount(more)} more are hidden. Choose a smaller range` : ''}`,
    columns: [
      ...['Dataset', ...['From', 'To', unit === 'blocks' ? 'Blocks' : 'Versions'].map(number)],
      ...['Proof', 'Source or reason'],
    ],
    none: 'No data for this range.',
    rows,
  });
}

type ListedRange = ReturnType<typeof listRanges>[number];

function listRanges({ kind, card, status }: ChainFacts, requested: BlockRange) {
  const gaps = status.gaps.map(({ dataset, range }) => ({
    dataset,
    range,
    level: 'missing' as const,
    note: null,
  }));
  const agreed = card.history?.levels.filter(({ level }) => level === 'cross') ?? [];
  const covered =
    kind === 'evm'
      ? status.coverage.map(({ dataset, range, proof, reason, upstream }) => {
          return { dataset, range, level: proof, note: reason ?? upstream };
        })
      : status.coverage.map(({ dataset, range }) => {
          const isAgreed = agreed.some(({ range: { from, to } }) => from <= range.from && range.to <= to);
          return { dataset, range, level: isAgreed ? ('cross' as const) : ('none' as const), note: null };
        });
  return [...covered, ...gaps]
    .filter(({ range }) => range.from <= requested.to && requested.from <= range.to)
    .toSorted((one, other) => one.dataset.localeCompare(other.dataset) || one.range.from - other.range.from);
}

const SOURCE_RANGES_SHOWN = 3;

/** Nothing is known of an ended process. */
function sourcesView({ kind, status }: ChainFacts, now: number): Html {
  if (kind === 'aptos' || status.sources.length === 0 || status.unknownHead?.isSilent === true) return NOTHING;
  const rows = status.sources.map(({ name, uses }) => {
    const ranges = rangesFromSource(status.coverage, name);
    const newest = ranges
      .slice(0, SOURCE_RANGES_SHOWN)
      .map(({ from, to }) => `${plainCount(from)} to ${plainCount(to)}`);
    const more = ranges.length > SOURCE_RANGES_SHOWN ? ', …' : '';
    return [
      shown(name),
      count(uses.blocks.blocks),
      count(uses.logs.blocks),
      html`${useView('Whole blocks', uses.blocks, now)}<br>${useView('Logs', uses.logs, now)}`,
      ranges.length === 0 ? '–' : `${newest.join(', ')}${more}`,
    ];
  });
  const list = table({
    label: 'Sources of history',
    caption: 'In order of preference, as used by the ingest process of the chain since its start',
    columns: ['Source', number('Whole blocks'), number('Blocks of logs'), 'State', 'Newest ranges'],
    rows,
  });
  return section('sources', 'Sources of history', list);
}

function useView(
  noun: string,
  { reason, until }: ChainStatus['sources'][number]['uses']['blocks'],
  now: number,
): Html {
  if (reason === null) return html`${noun}: ${severityView('ok', 'usable')}`;
  const state =
    until === null || until <= now ? 'usable again' : html`left alone until ${moment(new Date(until))}`;
  return html`${noun}: ${severityView('warning', state)}: ${shown(reason, 300)}`;
}

function nodesView({ kind, card, status }: ChainFacts, addressOf: NodeAddress): Html {
  const nodes =
    kind === 'aptos' ? status.fullnodes.map((node) => ({ ...node, latencyMs: null })) : status.upstreams;
  const rows = nodes.map(({ name, state, reason, head, latencyMs, requests, faults }) => [
    shown(addressOf({ chain: card.name, upstream: name })),
    nodeStateView(state, reason, 300),
    dash(head, count),
    dash(latencyMs, ({ p50, p95 }) => `${Math.round(p50)} / ${Math.round(p95)} ms`),
    count(requests),
    shown(
      Object.entries(faults)
        .map(([fault, times]) => `${fault} ${times}`)
        .join(', ') || 'none',
      300,
    ),
  ]);
  const list = table({
    label: 'Upstreams',
    caption: 'As seen by the ingest process of the chain',
    columns: ['Upstream', 'State', ...['Head', 'Latency p50 / p95', 'Requests'].map(number), 'Faults'],
    none: 'No upstream has reported yet.',
    rows,
  });
  return section('upstreams', 'Upstreams', list);
}

function readBlock(parameter: string, text: string | undefined): number | null {
  if (text === undefined || text === '') return null;
  if (!DIGITS.test(text)) throw refused(parameter, text, 'a whole number');
  return Number(text);
}
