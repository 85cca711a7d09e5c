import type { ChainStatus } from '@chainstead/sync';
import { html } from 'hono/html';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, percent } from '../../layout/numbers.ts';
import { selectField } from '../../layout/select-field.ts';
import type { CoverageRow } from './coverage-rows.ts';

export interface DatasetsFacts {
  /** All that there are, to choose from. */
  readonly chains: readonly string[];
  readonly datasets: readonly string[];
  /** Empty: all. */
  readonly chosen: { readonly chain: string; readonly dataset: string };
  readonly rows: readonly CoverageRow[];
  readonly building: readonly (ChainStatus['building'][number] & { readonly chain: string })[];
  /** The chain behind which the next page begins. */
  readonly next: string | null;
}

export function filterForm({ chains, datasets, chosen }: DatasetsFacts): Html {
  return html`<form method="get" action="/console/datasets" class="fields row" aria-label="Choose a chain or a dataset">
${selectField({ name: 'chain', label: 'Chain', options: chains, chosen: chosen.chain, all: 'all' })}
${selectField({ name: 'dataset', label: 'Dataset', options: datasets, chosen: chosen.dataset, all: 'all' })}
<div><button class="quiet">Show</button></div></form>
<p><a href="/console/jobs">Fill, verify or read ranges anew</a> · <a href="/console/tables">Tables and disk</a></p>`;
}

/** All of the page that moves. */
export function datasetsView(facts: DatasetsFacts): Html {
  return html`<section aria-labelledby="coverage"><h2 id="coverage">Coverage</h2>${coverageView(facts)}</section>
<section aria-labelledby="derived"><h2 id="derived">Derived states that are being built</h2>${buildingView(facts.building)}</section>`;
}

function coverageView({ rows, chosen, next }: DatasetsFacts): Html {
  if (rows.length === 0) return html`<p class="soft">Nothing is covered of what was chosen.</p>`;
  const lines = rows.map((row) => {
    const ranges = `/console/chains/${encodeURIComponent(row.chain)}?dataset=${encodeURIComponent(row.dataset)}`;
    return html`<tr><td>${shown(row.chain)}</td><td><a href="${ranges}" aria-label="Ranges of ${cut(row.dataset)} on ${cut(row.chain)}">${shown(row.dataset)}</a></td>
<td class="number">${percent(row.part)}</td><td class="number">${count(row.missing)}</td><td class="number">${row.proven === null ? '–' : percent(row.proven)}</td>
<td class="number">${count(row.ranges)}</td><td class="number">${row.span === null ? '–' : html`${count(row.span.from)} to ${count(row.span.to)}`}</td></tr>`;
  });
  const after = new URLSearchParams({ ...(chosen.dataset !== '' && { dataset: chosen.dataset }), after: next ?? '' });
  return html`<div class="table" tabindex="0" role="region" aria-label="Coverage by chain and dataset"><table><caption>Of the blocks (Aptos: versions) from the start of history to where the chain is indexed; proven of what is covered</caption>
<thead><tr><th scope="col">Chain</th><th scope="col">Dataset</th><th scope="col" class="number">There</th><th scope="col" class="number">Missing</th><th scope="col" class="number">Proven</th><th scope="col" class="number">Ranges</th><th scope="col" class="number">From, to</th></tr></thead><tbody>${lines}</tbody></table></div>
${next === null ? NOTHING : html`<p><a href="/console/datasets?${String(after)}" rel="next">More chains</a></p>`}`;
}

function buildingView(building: DatasetsFacts['building']): Html {
  if (building.length === 0) return html`<p class="soft">None: all that is derived counts all rows.</p>`;
  const rows = building.map(
    ({ chain, state, dataset, status, part, rows: counted }) =>
      html`<tr><td>${shown(chain)}</td><td>${shown(state)}</td><td>${shown(dataset)}</td><td>${status === 'clearing' ? 'what it held before is deleted' : 'counts rows'}</td>
<td class="number">${percent(part)}</td><td class="number">${count(counted)}</td></tr>`,
  );
  return html`<div class="table" tabindex="0" role="region" aria-label="Derived states that are being built"><table><caption>New, or of another version than before: built from the rows that are there, beside the rest. Answers from them say that they are not complete</caption>
<thead><tr><th scope="col">Chain</th><th scope="col">State</th><th scope="col">Of dataset</th><th scope="col">What it does</th><th scope="col" class="number">Done</th><th scope="col" class="number">Rows counted</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
