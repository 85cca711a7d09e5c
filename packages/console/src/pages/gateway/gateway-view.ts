import type { MethodCalls } from '@chainstead/gateway';
import { html } from 'hono/html';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, percent, plainCount, rate } from '../../layout/numbers.ts';
import { number, table, wide } from '../../layout/table.ts';
import { kindsText } from '../../layout/upstream-sums.ts';
import type { UpstreamErrors } from './upstream-errors.ts';

/** The selected hours and chain. */
export interface GatewayFilter {
  readonly hours: number;
  /** Null: all of them. */
  readonly chain: string | null;
}

export interface GatewayFacts {
  readonly filter: GatewayFilter;
  /** The most called first. */
  readonly methods: readonly (MethodCalls & { readonly chain: string })[];
  /** The worst first. */
  readonly upstreams: readonly UpstreamErrors[];
  readonly upstreamHours: number;
  /** With calls. */
  readonly chains: readonly string[];
  /** Selectable numbers of hours. */
  readonly choices: readonly number[];
}

const METHODS_SHOWN = 300;
const UPSTREAMS_SHOWN = 300;
const HOUR_SECONDS = 3_600;

/** Returns the query string for URLs. */
export function queryOf({ hours, chain }: GatewayFilter): string {
  return `hours=${hours}${chain === null ? '' : `&chain=${encodeURIComponent(chain)}`}`;
}

/** Returns the filter form, and the live part below it. */
export function gatewayView(facts: GatewayFacts): { readonly form: Html; readonly moving: Html } {
  return {
    form: filterForm(facts),
    moving: html`${totalsView(facts)}
<section aria-labelledby="methods"><h2 id="methods">By chain and method</h2>${methodsView(facts)}</section>
<section aria-labelledby="upstreams"><h2 id="upstreams">Errors by upstream</h2>${upstreamsView(facts)}</section>`,
  };
}

function filterForm({ filter, chains, choices }: GatewayFacts): Html {
  const option = (value: string, text: string, isChosen: boolean): Html =>
    html`<option value="${value}" ${isChosen ? html`selected` : NOTHING}>${text}</option>`;
  return html`<form method="get" action="/console/gateway" class="inline" aria-label="Filter">
<label for="hours">Period</label><select id="hours" name="hours">${choices.map((hours) => option(String(hours), hoursText(hours), hours === filter.hours))}</select>
<label for="chain">Chain</label><select id="chain" name="chain">${option('', 'all chains', filter.chain === null)}${chains.map((chain) => option(chain, cut(chain), chain === filter.chain))}</select>
<button class="quiet">Show</button></form>`;
}

function hoursText(hours: number): string {
  if (hours === 1) return 'this hour';
  return hours > 24 ? `${hours / 24} days` : `${hours} hours`;
}

function totalsView({ filter, methods }: GatewayFacts): Html {
  const sum = (of: 'calls' | 'cached' | 'errors'): number => methods.reduce((total, row) => total + row[of], 0);
  const [calls, cached, errors] = [sum('calls'), sum('cached'), sum('errors')];
  if (calls === 0) return html`<p>No calls recorded.</p>`;
  return html`<dl class="facts totals">
<dt>Calls</dt><dd>${count(calls)}${filter.hours > 1 ? ` (${rate(calls / (filter.hours * HOUR_SECONDS))}/s)` : NOTHING}</dd>
<dt>Served locally</dt><dd>${percent(cached / calls)}</dd>
<dt>Errors</dt><dd>${count(errors)} (${percent(errors / calls)})</dd></dl>`;
}

function methodsView({ methods }: GatewayFacts): Html {
  if (methods.length === 0) return html`<p class="soft">No calls recorded.</p>`;
  const rows = methods
    .slice(0, METHODS_SHOWN)
    .map((row) => [
      shown(row.chain),
      html`<code>${shown(row.method)}</code>`,
      count(row.calls),
      percent(row.cached / Math.max(1, row.calls)),
      count(row.errors),
      row.half === null ? '–' : milliseconds(row.half),
      row.most === null ? '–' : milliseconds(row.most),
    ]);
  const more = methods.length - METHODS_SHOWN;
  return table({
    label: 'Calls by chain and method',
    caption: html`Most calls first. p50 and p95: from the call to the response, for calls sent to an upstream${more > 0 ? `. ${plainCount(more)} more are hidden. Choose a chain` : ''}`,
    columns: [
      'Chain',
      'Method',
      number('Calls'),
      number('Served locally'),
      number('Errors'),
      number('p50'),
      number('p95'),
    ],
    rows,
  });
}

function upstreamsView({ upstreams, upstreamHours }: GatewayFacts): Html {
  if (upstreams.length === 0) return html`<p class="soft">No upstream calls recorded.</p>`;
  const rows = upstreams
    .slice(0, UPSTREAMS_SHOWN)
    .map((row) => [
      shown(row.address),
      shown(row.chain),
      count(row.calls),
      percent(row.errorShare),
      row.faults.size === 0 ? 'none' : shown(kindsText(row.faults), 300),
      row.half === null ? '–' : milliseconds(row.half),
      row.most === null ? '–' : milliseconds(row.most),
    ]);
  return table({
    label: 'Errors by upstream',
    caption: html`Calls by processes of the role api in the last ${plainCount(upstreamHours)} ${upstreamHours === 1 ? 'hour' : 'hours'}, worst first. Failed calls are retried on other nodes, so clients see fewer errors`,
    columns: [
      wide('Node', 'name'),
      'Chain',
      number('Calls'),
      number('Errors'),
      wide('Kinds', 'name'),
      number('p50'),
      number('p95'),
    ],
    rows,
  });
}

function milliseconds(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${plainCount(ms)} ms`;
}
