import { latencyPercentile } from '@chainstead/core';
import { type HourCalls, type MethodCalls, readHourCalls, readMethodCalls } from '@chainstead/gateway';
import { LATENCY_BOUNDS_MS } from '@chainstead/rpc/pool';
import { type RecentCalls, readUpstreamCalls } from '@chainstead/sync/ingest';
import { html } from 'hono/html';
import { type ConsolePage, type ConsoleRequest, jsonFile } from '../../console-page.ts';
import { button, optionViews } from '../../layout/form.ts';
import {
  code,
  dash,
  factList,
  type Html,
  livePart,
  paragraph,
  plot,
  readChoice,
  refused,
  section,
  shown,
} from '../../layout/html.ts';
import { count, faultsOf, kindsText, percent, plainCount, rate, sumOfTimes } from '../../layout/numbers.ts';
import { number, table, wide } from '../../layout/table.ts';
import type { NodeAddress } from '../upstreams/read-upstreams.ts';

const HOURS_SHOWN = [1, 6, 24, 72, 168] as const;
const HOURS = 24;
/** Calls to upstreams are retained for a day. */
const UPSTREAM_HOURS_MAX = 24;
const ROLE = 'api';
const HOUR_SECONDS = 3_600;

export const gatewayPage: ConsolePage = {
  path: '/gateway',
  title: 'Gateway',
  group: 'RPC',
  addRoutes(routes, { database, registry, chainName: nameOf, upstreams, clock }) {
    const filterOf = ({ query }: ConsoleRequest): GatewayFilter & { readonly chainId: number | undefined } => {
      const hours = readChoice('hours', query('hours'), HOURS_SHOWN) ?? HOURS;
      const name = query('chain') ?? '';
      if (name === '') return { hours, chain: null, chainId: undefined };
      const chain = registry.find(name);
      if (chain !== null) return { hours, chain: chain.key, chainId: chain.id };
      throw refused('chain', name, 'the name of a chain, such as eth');
    };
    const read = async (request: ConsoleRequest) => {
      const filter = filterOf(request);
      const { hours, chain, chainId } = filter;
      const [methods, all, calls] = await Promise.all([
        readMethodCalls(database, { hours, chainId }),
        chainId === undefined ? null : readMethodCalls(database, { hours }),
        readUpstreamCalls(database, Math.min(hours, UPSTREAM_HOURS_MAX)),
      ]);
      const requested = calls.filter((row) => row.role === ROLE && (chain === null || row.chain === chain));
      const chains = [...new Set((all ?? methods).map((row) => nameOf(row.chainId)))].toSorted();
      return gatewayView({
        filter,
        methods: methods.map((row) => ({ ...row, chain: nameOf(row.chainId) })),
        upstreams: upstreamErrors(requested, upstreams.addressOf),
        upstreamHours: Math.min(hours, UPSTREAM_HOURS_MAX),
        chains: chain === null ? chains : [...new Set([chain, ...chains])].toSorted(),
      });
    };
    routes.view('/gateway', async (request) => {
      const query = queryOf(filterOf(request));
      const { form, hasCalls, moving } = await read(request);
      return {
        body: html`${form}
${hasCalls && plot(`/console/gateway/calls.json?${query}`, 'The plot needs JavaScript. The tables below show the numbers.')}
${livePart(`/gateway?${query}`, moving)}`,
      };
    });
    routes.live('/gateway', async (request) => (await read(request)).moving);
    routes.view('/gateway/calls.json', async (request) => {
      const { hours, chainId } = filterOf(request);
      const byHour = await readHourCalls(database, { hours, chainId });
      return jsonFile(callsPlot(byHour, hours, clock.now()));
    });
  },
};

/** For the page's script; hours without calls are 0. `now`: ms since the epoch. */
function callsPlot(byHour: readonly HourCalls[], hours: number, now: number) {
  const last = Math.floor(now / 1_000 / HOUR_SECONDS) * HOUR_SECONDS;
  const callsAt = new Map(byHour.map((calls) => [calls.hour.getTime() / 1_000, calls]));
  const times = Array.from({ length: hours }, (_, index) => last - (hours - 1 - index) * HOUR_SECONDS);
  const series = (of: 'calls' | 'cached' | 'errors'): number[] => times.map((at) => callsAt.get(at)?.[of] ?? 0);
  return {
    labels: ['calls', 'served locally', 'errors'],
    unit: 'per hour',
    // A plot of one point would show nothing.
    range: [Math.min(last - HOUR_SECONDS, times[0] ?? last), last],
    times: byHour.length === 0 ? [] : times,
    values: byHour.length === 0 ? [[], [], []] : [series('calls'), series('cached'), series('errors')],
  };
}

interface GatewayFilter {
  readonly hours: number;
  readonly chain: string | null;
}

interface GatewayFacts {
  readonly filter: GatewayFilter;
  readonly methods: readonly (MethodCalls & { readonly chain: string })[];
  readonly upstreams: ReturnType<typeof upstreamErrors>;
  readonly upstreamHours: number;
  readonly chains: readonly string[];
}

const METHODS_SHOWN = 300;
const UPSTREAMS_SHOWN = 300;

function queryOf({ hours, chain }: GatewayFilter): string {
  return `hours=${hours}${chain === null ? '' : `&chain=${encodeURIComponent(chain)}`}`;
}

function gatewayView(facts: GatewayFacts) {
  return {
    form: filterForm(facts),
    hasCalls: facts.methods.length > 0,
    moving: html`${
      facts.methods.length === 0
        ? paragraph('No calls recorded.')
        : html`${totalsView(facts)}
${section('methods', 'By chain and method', methodsView(facts))}`
    }
${facts.upstreams.length > 0 && section('upstreams', 'Errors by upstream', upstreamsView(facts))}`,
  };
}

function filterForm({ filter, chains }: GatewayFacts): Html {
  const hoursText = (hours: number): string => {
    if (hours === 1) return 'this hour';
    return hours > 24 ? `${hours / 24} days` : `${hours} hours`;
  };
  const hours = HOURS_SHOWN.map((choice) => [String(choice), hoursText(choice)] as const);
  return html`<form method="get" action="/console/gateway" class="inline" aria-label="Filter">
<label for="hours">Period</label><select id="hours" name="hours">${optionViews(hours, String(filter.hours))}</select>
<label for="chain">Chain</label><select id="chain" name="chain"><option value="">all chains</option>${optionViews(chains, filter.chain)}</select>
${button('Show', 'quiet')}</form>`;
}

function totalsView({ filter, methods }: GatewayFacts): Html {
  const sum = (of: 'calls' | 'cached' | 'errors'): number => methods.reduce((total, row) => total + row[of], 0);
  const [calls, cached, errors] = [sum('calls'), sum('cached'), sum('errors')];
  const perSecond = filter.hours > 1 && ` (${rate(calls / (filter.hours * HOUR_SECONDS))}/s)`;
  return factList('totals', [
    ['Calls', html`${count(calls)}${perSecond}`],
    ['Served locally', percent(cached / calls)],
    ['Errors', html`${count(errors)} (${percent(errors / calls)})`],
  ]);
}

function methodsView({ methods }: GatewayFacts): Html {
  const rows = methods
    .slice(0, METHODS_SHOWN)
    .map((row) => [
      shown(row.chain),
      code(shown(row.method)),
      count(row.calls),
      percent(row.cached / Math.max(1, row.calls)),
      count(row.errors),
      dash(row.half, milliseconds),
      dash(row.most, milliseconds),
    ]);
  const more = methods.length - METHODS_SHOWN;
  return table({
    label: 'Calls by chain and method',
    caption: html`Most calls first. p50 and p95: from the call to the response, for calls sent to an upstream${more > 0 ? `. ${plainCount(more)} more are hidden. Choose a chain` : ''}`,
    columns: ['Chain', 'Method', ...['Calls', 'Served locally', 'Errors', 'p50', 'p95'].map(number)],
    rows,
  });
}

function upstreamsView({ upstreams, upstreamHours }: GatewayFacts): Html {
  const rows = upstreams
    .slice(0, UPSTREAMS_SHOWN)
    .map((row) => [
      shown(row.address),
      shown(row.chain),
      count(row.calls),
      percent(row.errorShare),
      row.faults.size === 0 ? 'none' : shown(kindsText(row.faults), 300),
      dash(row.half, milliseconds),
      dash(row.most, milliseconds),
    ]);
  return table({
    label: 'Errors by upstream',
    caption: html`Calls by processes of the role api in the last ${plainCount(upstreamHours)} ${upstreamHours === 1 ? 'hour' : 'hours'}, worst first. Failed calls are retried on other upstreams, so clients see fewer errors`,
    columns: [
      ...[wide('Upstream', 'name'), 'Chain', number('Calls'), number('Errors')],
      ...[wide('Kinds', 'name'), number('p50'), number('p95')],
    ],
    rows,
  });
}

function milliseconds(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${plainCount(ms)} ms`;
}

function upstreamErrors(requested: readonly RecentCalls[], addressOf: NodeAddress) {
  const nodes = Map.groupBy(requested, ({ chain, upstream }) => JSON.stringify([chain, upstream]));
  return [...nodes.values()]
    .flatMap((rows) => {
      const [first] = rows;
      if (first === undefined) return [];
      const calls = rows.reduce((sum, row) => sum + row.calls, 0);
      const faults = faultsOf(rows);
      const failed = [...faults.values()].reduce((sum, times) => sum + times, 0);
      const latency = sumOfTimes(rows);
      const percentile = (part: number) => latencyPercentile(LATENCY_BOUNDS_MS, latency, part);
      const errorShare = calls === 0 ? 0 : failed / calls;
      return [
        {
          chain: first.chain,
          address: addressOf(first),
          calls,
          faults,
          errorShare,
          half: percentile(0.5),
          most: percentile(0.95),
        },
      ];
    })
    .toSorted((left, right) => right.errorShare - left.errorShare || right.calls - left.calls);
}
