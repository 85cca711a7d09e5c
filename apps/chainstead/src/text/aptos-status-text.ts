import { type AptosNetwork, type AptosStatus, chainKeyOf } from '@chainstead/aptos';
import { rangeSize } from '@chainstead/core';
import type { UnknownHead } from '@chainstead/sync/ingest';
import {
  headText,
  lagText,
  neverIngestedText,
  storedJson,
  storedText,
  unknownHeadJson,
} from './chain-status-text.ts';
import { formatSeconds } from './progress.ts';
import { renderTable } from './text-table.ts';

export interface AptosStatusFacts {
  readonly statuses: readonly AptosStatus[];
  readonly configured: readonly AptosNetwork[];
  readonly stored: ReadonlySet<AptosNetwork>;
  readonly unknownHeads: ReadonlyMap<string, UnknownHead>;
  readonly ends: ReadonlyMap<string, number>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function renderAptosStatus(facts: AptosStatusFacts): string[] {
  const missing = neverIngested(facts).map(
    (chain) => `${chain}\n${neverIngestedText(facts.unknownHeads.get(chain))}`,
  );
  return [...facts.statuses.map((status) => renderNetwork(status, facts)), ...missing];
}

export function aptosStatusJson(facts: AptosStatusFacts): Readonly<Record<string, unknown>> {
  return {
    networks: facts.statuses.map((status) => ({
      chain: status.chain,
      network: status.network,
      head: status.head,
      oldest: status.oldest,
      checkpoint: status.checkpoint,
      lag: facts.unknownHeads.has(status.chain) || facts.stored.has(status.network) ? null : status.lag,
      stored: storedJson(facts.stored.has(status.network) ? { since: status.updatedAt } : null),
      unknown_head: unknownHeadJson(facts.unknownHeads.get(status.chain) ?? null),
      history_start: status.historyStart,
      stop: status.stop,
      stall_reason: status.stallReason,
      confirmed_root: status.confirmedRoot,
      covered: coveredByDataset(status),
      gaps: status.gaps,
      fullnodes: status.fullnodes,
      updated_at: status.updatedAt.toISOString(),
    })),
    never_ingested: neverIngested(facts),
  };
}

function neverIngested({ statuses, configured }: AptosStatusFacts): string[] {
  return configured.filter((network) => !statuses.some((status) => status.network === network)).map(chainKeyOf);
}

function renderNetwork(status: AptosStatus, { now, unknownHeads, ends, stored }: AptosStatusFacts): string {
  if (stored.has(status.network)) return `${status.chain}\n${storedText(status.chain, status.updatedAt)}`;
  const unknown = unknownHeads.get(status.chain) ?? null;
  const age = Math.max(0, Math.round((now - status.updatedAt.getTime()) / 1_000));
  const { stop } = status;
  const lines = [
    `${status.chain}, as of ${formatSeconds(age)} ago`,
    `  head        ${headText(status.head, unknown, now)}`,
    `  indexed to  ${status.checkpoint ?? 'nothing yet'}${lagText({ ...status, unknownHead: unknown }, ends.get(status.chain), 'versions')}`,
    `  history     from ${status.historyStart}${status.oldest === null ? '' : `; available on fullnodes from ${status.oldest}`}`,
    `  compared    ${status.confirmedRoot === null ? 'no second fullnode' : `between two fullnodes up to ${status.confirmedRoot}`}`,
    ...coveredByDataset(status).map(
      ({ dataset, versions, missing }) => `  ${dataset}: ${versions} versions indexed; ${missing} missing`,
    ),
    ...(stop === null
      ? []
      : [`  ${stop.code === 'VERSIONS_PRUNED' ? 'INCOMPLETE' : 'STOPPED   '}  ${stop.message} [${stop.code}]`]),
    ...(status.stallReason === null ? [] : [`  blocked     ${status.stallReason}`]),
  ];
  return `${lines.join('\n')}\n${renderFullnodes(status).replaceAll(/^(?=.)/gm, '  ')}`;
}

function renderFullnodes({ fullnodes }: AptosStatus): string {
  if (fullnodes.length === 0) return 'no fullnode has reported yet\n';
  const rows = fullnodes.map((fullnode) => [
    fullnode.name,
    fullnode.reason === null ? fullnode.state : `${fullnode.state} (${fullnode.reason})`,
    String(fullnode.head ?? 'unknown'),
    fullnode.requests,
    Object.entries(fullnode.faults)
      .map(([kind, count]) => `${kind} ${count}`)
      .join(', ') || 'none',
  ]);
  return renderTable(['fullnode', 'state', 'head', 'requests', 'faults'], rows);
}

function coveredByDataset({
  coverage,
  gaps,
}: AptosStatus): { dataset: string; versions: number; missing: number }[] {
  const sizeOf = (
    of: readonly { dataset: string; range: { from: number; to: number } }[],
    dataset: string,
  ): number => of.reduce((sum, each) => (each.dataset === dataset ? sum + rangeSize(each.range) : sum), 0);
  const names = new Set([...coverage, ...gaps].map(({ dataset }) => dataset));
  return [...names].map((dataset) => ({
    dataset,
    versions: sizeOf(coverage, dataset),
    missing: sizeOf(gaps, dataset),
  }));
}
