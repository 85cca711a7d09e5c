import type { ChainStatus } from '@chainstead/sync';
import { html } from 'hono/html';
import type { ConsolePage, PageRequest } from '../../console-page.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { livePart } from '../../layout/live-part.ts';
import { count, percent } from '../../layout/numbers.ts';
import { selectField } from '../../layout/select-field.ts';
import { number, table } from '../../layout/table.ts';
import type { ChainFacts } from '../overview/read-overview.ts';
import { type CoverageRow, coverageRows } from './coverage-rows.ts';

/** Chains of a page: each has about ten rows. */
const CHAINS = 20;

/** The coverage of each dataset, by chain, and of the derived data that is rebuilt. */
export const datasetsPage: ConsolePage = {
  path: '/datasets',
  title: 'Datasets',
  group: 'Data',
  addRoutes(routes, { overview }) {
    const read = async (request: PageRequest): Promise<DatasetsFacts> => factsOf(await overview.chains(), request);
    routes.view('/datasets', async (request) => {
      const facts = await read(request);
      const query = queryOf(request);
      return {
        title: 'Datasets',
        body: html`<h1>Datasets</h1>
${filterForm(facts)}
${livePart(`/datasets${query === '' ? '' : `?${query}`}`, datasetsView(facts))}`,
      };
    });
    routes.live('/datasets', async (request) => datasetsView(await read(request)));
  },
};

function queryOf({ query }: PageRequest): string {
  const given = new URLSearchParams();
  for (const name of ['chain', 'dataset', 'after']) if ((query(name) ?? '') !== '') given.set(name, query(name) ?? '');
  return String(given);
}

/** Chains by name, starting after `after`. */
function factsOf(all: readonly ChainFacts[], { query }: PageRequest): DatasetsFacts {
  const sorted = all.toSorted((one, other) => compare(one.card.name, other.card.name));
  const [chain = '', dataset = '', after = ''] = [query('chain'), query('dataset'), query('after')];
  const matching = sorted.filter(({ card }) => (chain === '' || card.name === chain) && compare(card.name, after) > 0);
  const page = matching.slice(0, CHAINS);
  return {
    chains: sorted.map(({ card }) => card.name),
    datasets: [...new Set(sorted.flatMap(namesOf))].toSorted(),
    chosen: { chain, dataset },
    rows: page.flatMap(coverageRows).filter((row) => dataset === '' || row.dataset === dataset),
    building: page.flatMap((facts) =>
      facts.kind === 'evm' ? facts.status.building.map((build) => ({ ...build, chain: facts.card.name })) : [],
    ),
    next: matching.length > CHAINS ? (page.at(-1)?.card.name ?? null) : null,
  };
}

/** By code units, as the cursor's chain may have been removed. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function namesOf({ status }: ChainFacts): string[] {
  return [...status.coverage, ...status.gaps].map(({ dataset }) => dataset);
}

interface DatasetsFacts {
  /** All that can be chosen. */
  readonly chains: readonly string[];
  readonly datasets: readonly string[];
  /** Empty: all. */
  readonly chosen: { readonly chain: string; readonly dataset: string };
  readonly rows: readonly CoverageRow[];
  readonly building: readonly (ChainStatus['building'][number] & { readonly chain: string })[];
  /** The chain after which the next page starts. */
  readonly next: string | null;
}

function filterForm({ chains, datasets, chosen }: DatasetsFacts): Html {
  return html`<form method="get" action="/console/datasets" class="fields row" aria-label="Filter by chain or dataset">
${selectField({ name: 'chain', label: 'Chain', options: chains, chosen: chosen.chain, all: 'all' })}
${selectField({ name: 'dataset', label: 'Dataset', options: datasets, chosen: chosen.dataset, all: 'all' })}
<div><button class="quiet">Show</button></div></form>
<p><a href="/console/jobs">Backfill, verify or reindex ranges</a> · <a href="/console/tables">Tables and disk</a></p>`;
}

/** The live part of the page. */
function datasetsView(facts: DatasetsFacts): Html {
  return html`<section aria-labelledby="coverage"><h2 id="coverage">Coverage</h2>${coverageView(facts)}</section>
<section aria-labelledby="projections"><h2 id="projections">Aggregates being rebuilt</h2>${buildingView(facts.building)}</section>`;
}

function coverageView({ rows, chosen, next }: DatasetsFacts): Html {
  if (rows.length === 0) return html`<p class="soft">No coverage matches the filter.</p>`;
  const lines = rows.map((row) => {
    const ranges = `/console/chains/${encodeURIComponent(row.chain)}?dataset=${encodeURIComponent(row.dataset)}`;
    return [
      shown(row.chain),
      html`<a href="${ranges}" aria-label="Ranges of ${cut(row.dataset)} on ${cut(row.chain)}">${shown(row.dataset)}</a>`,
      percent(row.part),
      count(row.missing),
      row.proven === null ? '–' : percent(row.proven),
      count(row.ranges),
      row.span === null ? '–' : html`${count(row.span.from)} to ${count(row.span.to)}`,
    ];
  });
  const after = new URLSearchParams({ ...(chosen.dataset !== '' && { dataset: chosen.dataset }), after: next ?? '' });
  return html`${table({ label: 'Coverage by chain and dataset', caption: 'Covered: share of the blocks (Aptos: versions) from the start block to the checkpoint. Proven: share of the covered blocks', columns: ['Chain', 'Dataset', number('Covered'), number('Missing'), number('Proven'), number('Ranges'), number('Span')], rows: lines })}
${next === null ? NOTHING : html`<p><a href="/console/datasets?${String(after)}" rel="next">More chains</a></p>`}`;
}

function buildingView(building: DatasetsFacts['building']): Html {
  if (building.length === 0) return html`<p class="soft">All aggregates are up to date.</p>`;
  const rows = building.map(({ chain, state, dataset, status, part, rows: counted }) => [
    shown(chain),
    shown(state),
    shown(dataset),
    status === 'clearing' ? 'deleting old values' : 'counting rows',
    percent(part),
    count(counted),
  ]);
  return table({
    label: 'Aggregates being rebuilt',
    caption:
      'New aggregates, and those with a new version, are built from stored rows. Until they are complete, API responses are marked as incomplete',
    columns: ['Chain', 'Aggregate', 'Dataset', 'Step', number('Progress'), number('Rows counted')],
    rows,
  });
}
