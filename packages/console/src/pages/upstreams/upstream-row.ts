import { latencyPercentile } from '@chainstead/core';
import { LATENCY_BOUNDS_MS } from '@chainstead/rpc';
import type { RecentCalls } from '@chainstead/sync';
import { faultsOf, sumOfTimes } from '../../layout/upstream-sums.ts';

/** A node in this process's configuration. */
export interface ConfiguredUpstream {
  /** As in `CHAINS`; for Aptos, `aptos` or `aptos-testnet`. */
  readonly chain: string;
  /** Its name in pools: the host, without anything that may be secret. */
  readonly name: string;
  /** With its scheme, without its path and query, which contain keys. */
  readonly address: string;
  /** Maximum calls per second; null: unlimited. */
  readonly requestsPerSecond: number | null;
  /** Maximum concurrent requests; null: the pool's own limit. */
  readonly concurrency: number | null;
  readonly isPrivate: boolean;
}

/** The ingest process's report about a node. */
export interface ReportedNode {
  readonly chain: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly head: number | null;
  /** Median and 95th percentile of its calls; null if not reported. Milliseconds. */
  readonly latencyMs: { readonly p50: number; readonly p95: number } | null;
  readonly requests: number;
  readonly faults: Readonly<Partial<Record<string, number>>>;
}

/** One node of the page. */
export interface UpstreamRow {
  readonly chain: string;
  readonly name: string;
  /** With its scheme if it is in this process's configuration; otherwise the name. */
  readonly address: string;
  /** Null: no process has reported it. */
  readonly state: string | null;
  readonly reason: string | null;
  readonly head: number | null;
  /** Null: no recent calls. Milliseconds. */
  readonly half: number | null;
  readonly most: number | null;
  /** By all processes, over the requested hours. */
  readonly calls: number;
  /** The failed ones among them, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  /** Null: never called. */
  readonly errorShare: number | null;
  readonly budget: {
    /** Recent calls per second. */
    readonly perSecond: number;
    readonly perSecondMax: number | null;
    /** Recent average. */
    readonly atOnce: number;
    readonly atOnceMax: number | null;
  };
  readonly isPrivate: boolean;
  readonly isConfigured: boolean;
}

/** Returns configured, reported and called nodes as one list, by chain and name. */
export function upstreamRows(
  configured: readonly ConfiguredUpstream[],
  reported: readonly ReportedNode[],
  calls: readonly RecentCalls[],
): UpstreamRow[] {
  const nameOf = ({ chain, name }: { readonly chain: string; readonly name: string }): string =>
    JSON.stringify([chain, name]);
  const configuredOf = new Map(configured.map((one) => [nameOf(one), one]));
  const reportedOf = new Map(reported.map((one) => [nameOf(one), one]));
  const callsOf = Map.groupBy(calls, ({ chain, upstream }) => nameOf({ chain, name: upstream }));
  const names = new Set([...configuredOf.keys(), ...reportedOf.keys(), ...callsOf.keys()]);
  return [...names]
    .flatMap((name) => {
      const known = configuredOf.get(name);
      const report = reportedOf.get(name);
      const requested = callsOf.get(name) ?? [];
      const place = known ?? report ?? (requested[0] && { chain: requested[0].chain, name: requested[0].upstream });
      return place === undefined ? [] : [upstreamRow(place, known, report, requested)];
    })
    .toSorted((one, other) => one.chain.localeCompare(other.chain) || one.name.localeCompare(other.name));
}

function upstreamRow(
  { chain, name }: { readonly chain: string; readonly name: string },
  known: ConfiguredUpstream | undefined,
  report: ReportedNode | undefined,
  requested: readonly RecentCalls[],
): UpstreamRow {
  const latency = sumOfTimes(requested);
  const faults = faultsOf(requested);
  const calls = requested.reduce((sum, row) => sum + row.calls, 0);
  const failed = [...faults.values()].reduce((sum, times) => sum + times, 0);
  // Calls to Aptos fullnodes are counted by the process that reads from them.
  const own = calls === 0 && report !== undefined ? ownCounts(report) : { calls, faults, failed };
  const recentMs = Math.max(1, requested[0]?.recent.ms ?? 1);
  return {
    chain,
    name,
    address: known?.address ?? name,
    state: report?.state ?? null,
    reason: report?.reason ?? null,
    head: report?.head ?? null,
    half: latencyPercentile(LATENCY_BOUNDS_MS, latency, 0.5) ?? report?.latencyMs?.p50 ?? null,
    most: latencyPercentile(LATENCY_BOUNDS_MS, latency, 0.95) ?? report?.latencyMs?.p95 ?? null,
    calls: own.calls,
    faults: own.faults,
    errorShare: own.calls === 0 ? null : own.failed / own.calls,
    budget: {
      perSecond: (requested.reduce((sum, row) => sum + row.recent.calls, 0) * 1_000) / recentMs,
      perSecondMax: known?.requestsPerSecond ?? null,
      atOnce: requested.reduce((sum, row) => sum + row.recent.busyMs, 0) / recentMs,
      atOnceMax: known?.concurrency ?? null,
    },
    isPrivate: known?.isPrivate ?? false,
    isConfigured: known !== undefined,
  };
}

function ownCounts({ requests, faults }: ReportedNode) {
  const kinds = new Map(
    Object.entries(faults).flatMap(([kind, times]) => (times === undefined ? [] : [[kind, times] as const])),
  );
  return { calls: requests, faults: kinds, failed: [...kinds.values()].reduce((sum, times) => sum + times, 0) };
}
