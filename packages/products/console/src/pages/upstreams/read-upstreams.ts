import { latencyPercentile } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { keepForSecond } from '@chainstead/http/server';
import { LATENCY_BOUNDS_MS } from '@chainstead/rpc/pool';
import { listWrongAnswers, type RecentCalls, readUpstreamCalls } from '@chainstead/sync/ingest';
import { faultsOf, sumOfTimes } from '../../layout/numbers.ts';
import type { OverviewSource } from '../overview/read-overview.ts';

export type Upstreams = Awaited<ReturnType<UpstreamsSource['read']>>;

export type UpstreamsSource = ReturnType<typeof createUpstreamsSource>;

const HOURS = 1;
const WRONG_ANSWERS_SHOWN = 10;

export function createUpstreamsSource(
  database: Database,
  overview: OverviewSource,
  configured: readonly ConfiguredUpstream[],
) {
  /** At most once a second, for any number of viewers. */
  const read = keepForSecond(async () => {
    const [facts, calls, wrongAnswers, { at }] = await Promise.all([
      overview.chains(),
      readUpstreamCalls(database, HOURS),
      listWrongAnswers(database, null, WRONG_ANSWERS_SHOWN),
      overview.read(),
    ]);
    const reported = facts.flatMap((ofChain): ReportedNode[] => {
      const chain = ofChain.card.name;
      if (ofChain.kind === 'evm') return ofChain.status.upstreams.map((upstream) => ({ ...upstream, chain }));
      return ofChain.status.fullnodes.map((fullnode) => ({ ...fullnode, chain, latencyMs: null }));
    });
    return { rows: upstreamRows(configured, reported, calls), wrongAnswers, at };
  });
  return { read, addressOf: nodeAddresses(configured) };
}

export interface ConfiguredUpstream {
  readonly chain: string;
  /** Name in pools: the host, without secrets. */
  readonly name: string;
  /** URL without path and query, which contain keys. */
  readonly address: string;
  readonly requestsPerSecond: number | null;
  readonly concurrency: number | null;
  readonly isPrivate: boolean;
}

interface ReportedNode {
  readonly chain: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly head: number | null;
  readonly latencyMs: { readonly p50: number; readonly p95: number } | null;
  readonly requests: number;
  readonly faults: Readonly<Partial<Record<string, number>>>;
}

export type ShownUpstream = ReturnType<typeof upstreamRow>;

function upstreamRows(
  configured: readonly ConfiguredUpstream[],
  reported: readonly ReportedNode[],
  calls: readonly RecentCalls[],
) {
  const nameOf = ({ chain, name }: { readonly chain: string; readonly name: string }): string =>
    JSON.stringify([chain, name]);
  const configuredOf = new Map(configured.map((node) => [nameOf(node), node]));
  const reportedOf = new Map(reported.map((node) => [nameOf(node), node]));
  const callsOf = Map.groupBy(calls, ({ chain, upstream }) => nameOf({ chain, name: upstream }));
  const names = new Set([...configuredOf.keys(), ...reportedOf.keys(), ...callsOf.keys()]);
  return [...names]
    .flatMap((name) => {
      const setting = configuredOf.get(name);
      const report = reportedOf.get(name);
      const requested = callsOf.get(name) ?? [];
      const node =
        setting ?? report ?? (requested[0] && { chain: requested[0].chain, name: requested[0].upstream });
      return node === undefined ? [] : [upstreamRow(node, setting, report, requested)];
    })
    .toSorted((left, right) => left.chain.localeCompare(right.chain) || left.name.localeCompare(right.name));
}

function upstreamRow(
  { chain, name }: { readonly chain: string; readonly name: string },
  setting: ConfiguredUpstream | undefined,
  report: ReportedNode | undefined,
  requested: readonly RecentCalls[],
) {
  const latency = sumOfTimes(requested);
  const counted = requested.reduce((sum, row) => sum + row.calls, 0);
  // The reading process counts calls to Aptos fullnodes.
  const isReported = counted === 0 && report !== undefined;
  const calls = isReported ? report.requests : counted;
  const faults = isReported ? reportedFaults(report) : faultsOf(requested);
  const failed = [...faults.values()].reduce((sum, times) => sum + times, 0);
  const recentMs = Math.max(1, requested[0]?.recent.ms ?? 1);
  return {
    chain,
    name,
    address: setting?.address ?? name,
    state: report?.state ?? null,
    reason: report?.reason ?? null,
    head: report?.head ?? null,
    half: latencyPercentile(LATENCY_BOUNDS_MS, latency, 0.5) ?? report?.latencyMs?.p50 ?? null,
    most: latencyPercentile(LATENCY_BOUNDS_MS, latency, 0.95) ?? report?.latencyMs?.p95 ?? null,
    calls,
    faults,
    errorShare: calls === 0 ? null : failed / calls,
    budget: {
      perSecond: (requested.reduce((sum, row) => sum + row.recent.calls, 0) * 1_000) / recentMs,
      perSecondMax: setting?.requestsPerSecond ?? null,
      atOnce: requested.reduce((sum, row) => sum + row.recent.busyMs, 0) / recentMs,
      atOnceMax: setting?.concurrency ?? null,
    },
    isPrivate: setting?.isPrivate ?? false,
    isConfigured: setting !== undefined,
  };
}
function reportedFaults({ faults }: ReportedNode): ReadonlyMap<string, number> {
  return new Map(Object.entries(faults).flatMap(([kind, times]) => (times === undefined ? [] : [[kind, times]])));
}

interface NamedNode {
  readonly chain: string;
  readonly upstream: string;
}

/** With its scheme if configured in this process. */
export type NodeAddress = (node: NamedNode) => string;

function nodeAddresses(configured: readonly ConfiguredUpstream[]): NodeAddress {
  const keyOf = ({ chain, upstream }: NamedNode): string => JSON.stringify([chain, upstream]);
  const addresses = new Map(
    configured.map(({ chain, name, address }) => [keyOf({ chain, upstream: name }), address] as const),
  );
  return (node) => addresses.get(keyOf(node)) ?? node.upstream;
}
