import { html } from 'hono/html';
import type { ConsolePage, PageRequest } from '../../console-page.ts';
import { livePart } from '../../layout/live-part.ts';
import type { ChainFacts } from '../overview/read-overview.ts';
import { coverageRows } from './coverage-rows.ts';
import { type DatasetsFacts, datasetsView, filterForm } from './datasets-view.ts';

/** Chains of a page: each has some ten rows. */
const CHAINS = 20;

/** What is there of each dataset, by chain; what is derived from it, and built anew. */
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

/** Chains by name, from the one after `after` on. */
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

/** By code units, as the cursor's chain may be gone. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function namesOf({ status }: ChainFacts): string[] {
  return [...status.coverage, ...status.gaps].map(({ dataset }) => dataset);
}
