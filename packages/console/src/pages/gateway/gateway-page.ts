import { type HourCalls, readHourCalls, readMethodCalls } from '@chainstead/gateway';
import { InvalidParameterError } from '@chainstead/http';
import { readUpstreamCalls } from '@chainstead/sync';
import { html } from 'hono/html';
import type { ConsolePage, PageRequest } from '../../console-page.ts';
import { livePart } from '../../layout/live-part.ts';
import { type GatewayFilter, gatewayView, queryOf } from './gateway-view.ts';
import { upstreamErrors } from './upstream-errors.ts';

const HOURS_SHOWN = [1, 6, 24, 72, 168] as const;
const HOURS = 24;
/** Calls to upstreams are retained for a day. */
const UPSTREAM_HOURS_MAX = 24;
/** The role of processes that serve the gateway. */
const ROLE = 'api';

const HOUR_SECONDS = 3_600;

/** The JSON-RPC gateway: calls, share without an upstream, durations, and failures by cause. */
export const gatewayPage: ConsolePage = {
  path: '/gateway',
  title: 'Gateway',
  group: 'Nodes',
  addRoutes(routes, { database, registry, upstreams, clock }) {
    const nameOf = (chainId: number): string => registry.find(chainId)?.key ?? String(chainId);
    /** @throws InvalidParameterError */
    const filterOf = ({ query }: PageRequest): GatewayFilter & { readonly chainId: number | undefined } => {
      const hours = hoursOf(query('hours'));
      const given = query('chain');
      if (given === undefined || given === '') return { hours, chain: null, chainId: undefined };
      const chain = registry.find(given);
      if (chain !== null) return { hours, chain: chain.key, chainId: chain.id };
      throw new InvalidParameterError({ parameter: 'chain', given, allowed: 'the name of a chain, such as eth' });
    };
    const read = async (request: PageRequest) => {
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
        choices: HOURS_SHOWN,
      });
    };
    routes.view('/gateway', async (request) => {
      const query = queryOf(filterOf(request));
      const { form, moving } = await read(request);
      return {
        title: 'Gateway',
        body: html`<h1>Gateway</h1>
${form}
<div class="card plot" data-plot="/console/gateway/calls.json?${query}">The plot needs JavaScript. The tables below show the numbers.</div>
${livePart(`/gateway?${query}`, moving)}`,
      };
    });
    routes.live('/gateway', async (request) => (await read(request)).moving);
    routes.view('/gateway/calls.json', async (request) => {
      const { hours, chainId } = filterOf(request);
      const byHour = await readHourCalls(database, { hours, chainId });
      return { content: JSON.stringify(callsPlot(byHour, hours, clock.now())), type: 'application/json' };
    });
  },
};

/** @throws InvalidParameterError */
function hoursOf(given: string | undefined): number {
  if (given === undefined || given === '') return HOURS;
  const hours = HOURS_SHOWN.find((choice) => String(choice) === given);
  if (hours !== undefined) return hours;
  throw new InvalidParameterError({ parameter: 'hours', given, allowed: `one of ${HOURS_SHOWN.join(', ')}` });
}

/**
 * Returns calls by hour in the format of the page's script; hours without calls are 0.
 * @param now milliseconds since the epoch
 */
function callsPlot(byHour: readonly HourCalls[], hours: number, now: number) {
  const last = Math.floor(now / 1_000 / HOUR_SECONDS) * HOUR_SECONDS;
  const known = new Map(byHour.map((one) => [one.hour.getTime() / 1_000, one]));
  const times = Array.from({ length: hours }, (_, index) => last - (hours - 1 - index) * HOUR_SECONDS);
  const series = (of: 'calls' | 'cached' | 'errors'): number[] => times.map((at) => known.get(at)?.[of] ?? 0);
  return {
    labels: ['calls', 'served locally', 'errors'],
    unit: 'per hour',
    // A plot of one point would show nothing.
    range: [Math.min(last - HOUR_SECONDS, times[0] ?? last), last],
    times: byHour.length === 0 ? [] : times,
    values: byHour.length === 0 ? [[], [], []] : [series('calls'), series('cached'), series('errors')],
  };
}
