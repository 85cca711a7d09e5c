import { type BlockRange, intersectRanges, mergeRanges, rangeSize } from '@chainstead/core';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleRequest } from '../../console-page.ts';
import { field, queryForm } from '../../layout/form.ts';
import {
  cut,
  dash,
  type Html,
  livePart,
  nameParts,
  nextLink,
  section,
  shown,
  writeQuery,
} from '../../layout/html.ts';
import { count, percent } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';
import type { ChainFacts } from '../overview/read-overview.ts';

const CHAINS = 20;

export const datasetsPage: ConsolePage = {
  path: '/datasets',
  title: 'Datasets',
  group: 'Data',
  addRoutes(routes, { overview }) {
    const read = async (request: ConsoleRequest) => factsOf(await overview.chains(), request);
    routes.view('/datasets', async (request) => {
      const facts = await read(request);
      const { query } = request;
      const path = `/datasets${writeQuery({ chain: query('chain'), dataset: query('dataset'), after: query('after') })}`;
      return { body: html`${filterForm(facts)}\n${livePart(path, datasetsView(facts))}` };
    });
    routes.live('/datasets', async (request) => datasetsView(await read(request)));
  },
};

function factsOf(all: readonly ChainFacts[], { query }: ConsoleRequest) {
  const sorted = all.toSorted((one, other) => compare(one.card.name, other.card.name));
  const [chain = '', dataset = '', after = ''] = [query('chain'), query('dataset'), query('after')];
  const matching = sorted.filter(
    ({ card }) => (chain === '' || card.name === chain) && compare(card.name, after) > 0,
  );
  const page = matching.slice(0, CHAINS);
  return {
    chains: sorted.map(({ card }) => card.name),
    datasets: [
      ...new Set(
        sorted.flatMap(({ status }) => [...status.coverage, ...status.gaps].map((part) => part.dataset)),
      ),
    ].toSorted(),
    chosen: { chain, dataset },
    rows: page.flatMap(coverageRows).filter((row) => dataset === '' || row.dataset === dataset),
    building: page.flatMap((facts) =>
      facts.kind === 'evm' ? facts.status.building.map((build) => ({ ...build, chain: facts.card.name })) : [],
    ),
    next: matching.length > CHAINS ? (page.at(-1)?.card.name ?? null) : null,
  };
}

/** By code units: the cursor's chain may have been removed. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

type DatasetsFacts = ReturnType<typeof factsOf>;

function filterForm({ chains, datasets, chosen }: DatasetsFacts): Html {
  const fields = [
    field('chain', { label: 'Chain', options: chains, all: 'all' }, chosen.chain),
    field('dataset', { label: 'Dataset', options: datasets, all: 'all' }, chosen.dataset),
  ];
  return html`${queryForm('/console/datasets', 'Filter by chain or dataset', fields)}
<p><a href="/console/jobs">Backfill, verify or reindex ranges</a> · <a href="/console/tables">Tables and disk</a></p>`;
}

function datasetsView(facts: DatasetsFacts): Html {
  return html`${section('coverage', 'Coverage', coverageView(facts))}
${section('projections', 'Aggregates being rebuilt', buildingView(facts.building))}`;
}

function coverageView({ rows, chosen, next }: DatasetsFacts): Html {
  const lines = rows.map((row) => {
    const ranges = `/console/chains/${encodeURIComponent(row.chain)}?dataset=${encodeURIComponent(row.dataset)}`;
    return [
      shown(row.chain),
      html`<a href="${ranges}" aria-label="Ranges of ${cut(row.dataset)} on ${cut(row.chain)}">${nameParts(row.dataset)}</a>`,
      percent(row.part),
      count(row.missing),
      dash(row.proven, (part) => (part === 'not provable' ? part : percent(part))),
      count(row.ranges),
      dash(row.span, ({ from, to }) => html`${count(from)} to ${count(to)}`),
    ];
  });
  const list = table({
    label: 'Coverage by chain and dataset',
    caption:
      'Covered: share of the blocks (Aptos: versions) from the start block to the checkpoint. Proven: share of the covered blocks that can be proven',
    columns: ['Chain', 'Dataset', ...['Covered', 'Missing', 'Proven', 'Ranges', 'Span'].map(number)],
    none: 'No coverage matches the filter.',
    rows: lines,
  });
  const more = next && `/console/datasets${writeQuery({ dataset: chosen.dataset, after: next })}`;
  return html`${list}
${nextLink(more, 'More chains')}`;
}

function buildingView(building: DatasetsFacts['building']): Html {
  const rows = building.map(({ chain, state, dataset, status, part, rows: counted }) => [
    shown(chain),
    nameParts(state),
    nameParts(dataset),
    status === 'clearing' ? 'deleting old values' : 'counting rows',
    percent(part),
    count(counted),
  ]);
  return table({
    label: 'Aggregates being rebuilt',
    caption:
      'New aggregates, and those with a new version, are built from stored rows. Until they are complete, API responses are marked as incomplete',
    columns: ['Chain', 'Aggregate', 'Dataset', 'Step', number('Progress'), number('Rows counted')],
    none: 'All aggregates are up to date.',
    rows,
  });
}

const PROVEN: ReadonlySet<string> = new Set(['receipts', 'cross']);

function coverageRows(facts: ChainFacts) {
  const { card, status } = facts;
  const whole = card.history?.range ?? null;
  const wanted = whole === null ? 0 : Math.max(0, rangeSize(whole));
  const names = new Set([...status.coverage, ...status.gaps].map(({ dataset }) => dataset));
  return [...names].toSorted().map((dataset) => {
    const covered = status.coverage.filter((one) => one.dataset === dataset).map(({ range }) => range);
    const missing = sizeOf(status.gaps.filter((gap) => gap.dataset === dataset).map(({ range }) => range));
    const inAll = sizeOf(covered);
    const unprovable = unprovableRanges(facts, dataset);
    const provable = inAll - sizeOf(unprovable);
    const [first, last] = [covered[0], covered.at(-1)];
    return {
      chain: card.name,
      dataset,
      missing,
      part: wanted === 0 ? 0 : (wanted - missing) / wanted,
      /** By receipts or a second node, 0 to 1 of the blocks that can be proven; null without coverage. */
      proven:
        inAll === 0
          ? null
          : provable === 0
            ? ('not provable' as const)
            : sizeOf(provenRanges(facts, dataset)) / provable,
      ranges: covered.length,
      span: first === undefined || last === undefined ? null : { from: first.from, to: last.to },
    };
  });
}

/** Such as rows of traces, which no root commits to. */
function unprovableRanges({ kind, status }: ChainFacts, dataset: string): readonly BlockRange[] {
  if (kind !== 'evm') return [];
  return status.coverage
    .filter((one) => one.dataset === dataset && one.proof === 'not-applicable')
    .map(({ range }) => range);
}

function provenRanges({ kind, card, status }: ChainFacts, dataset: string): readonly BlockRange[] {
  if (kind === 'evm')
    return status.coverage
      .filter((one) => one.dataset === dataset && PROVEN.has(one.proof))
      .map(({ range }) => range);
  // On Aptos, agreement is stored for all datasets together.
  const agreed = (card.history?.levels ?? []).filter(({ level }) => level === 'cross').map(({ range }) => range);
  const covered = status.coverage.filter((one) => one.dataset === dataset).map(({ range }) => range);
  return intersectRanges(mergeRanges(covered), mergeRanges(agreed));
}

function sizeOf(ranges: readonly BlockRange[]): number {
  return ranges.reduce((sum, range) => sum + rangeSize(range), 0);
}
