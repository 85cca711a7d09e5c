import { latencyPercentile } from '@chainstead/core';
import { LATENCY_BOUNDS_MS } from '@chainstead/rpc';
import type { RecentCalls } from '@chainstead/sync';
import { faultsOf, sumOfTimes } from '../../layout/upstream-sums.ts';

/** A node as the configuration of this process has it. */
export interface ConfiguredUpstream {
  /** As in `CHAINS`; of Aptos, `aptos` or `aptos-testnet`. */
  readonly chain: string;
  /** As pools name it: host, without anything that may be secret. */
  readonly name: string;
  /** With its scheme, and nothing of its path and query: keys live there. */
  readonly address: string;
  /** Calls a second that are allowed; null: any number. */
  readonly requestsPerSecond: number | null;
  /** Requests at once that are allowed; null: the pool's own bound. */
  readonly concurrency: number | null;
  readonly isPrivate: boolean;
}

/** What the process that ingests the chain says of a node. */
export interface ReportedNode {
  readonly chain: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly head: number | null;
  /** What half, and 95 %, of its calls took; null where it does not say. Milliseconds. */
  readonly latencyMs: { readonly p50: number; readonly p95: number } | null;
  readonly requests: number;
  readonly faults: Readonly<Partial<Record<string, number>>>;
}

/** One node of the page. */
export interface UpstreamRow {
  readonly chain: string;
  readonly name: string;
  /** With its scheme where the configuration of this process has it; else the name. */
  readonly address: string;
  /** Null: no process has reported it. */
  readonly state: string | null;
  readonly reason: string | null;
  readonly head: number | null;
  /** Null: nothing was asked lately. Milliseconds. */
  readonly half: number | null;
  readonly most: number | null;
  /** By all processes, over the hours asked for. */
  readonly calls: number;
  /** Of them, those that it failed, by kind. */
  readonly faults: ReadonlyMap<string, number>;
  /** Null: never asked. */
  readonly errorShare: number | null;
  readonly budget: {
    /** Lately. */
    readonly perSecond: number;
    readonly perSecondMax: number | null;
    /** On average, lately. */
    readonly atOnce: number;
    readonly atOnceMax: number | null;
  };
  readonly isPrivate: boolean;
  readonly isConfigured: boolean;
}

/** Configured, reported and asked nodes as one list, by chain and name. */
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
      const asked = callsOf.get(name) ?? [];
      const place = known ?? report ?? (asked[0] && { chain: asked[0].chain, name: asked[0].upstream });
      return place === undefined ? [] : [upstreamRow(place, known, report, asked)];
    })
    .toSorted((one, other) => one.chain.localeCompare(other.chain) || one.name.localeCompare(other.name));
}

function upstreamRow(
  { chain, name }: { readonly chain: string; readonly name: string },
  known: ConfiguredUpstream | undefined,
  report: ReportedNode | undefined,
  asked: readonly RecentCalls[],
): UpstreamRow {
  const latency = sumOfTimes(asked);
  const faults = faultsOf(asked);
  const calls = asked.reduce((sum, row) => sum + row.calls, 0);
  const failed = [...faults.values()].reduce((sum, times) => sum + times, 0);
  // Fullnodes of Aptos are counted by the process that reads from them.
  const own = calls === 0 && report !== undefined ? ownCounts(report) : { calls, faults, failed };
  const recentMs = Math.max(1, asked[0]?.recent.ms ?? 1);
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
      perSecond: (asked.reduce((sum, row) => sum + row.recent.calls, 0) * 1_000) / recentMs,
      perSecondMax: known?.requestsPerSecond ?? null,
      atOnce: asked.reduce((sum, row) => sum + row.recent.busyMs, 0) / recentMs,
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
