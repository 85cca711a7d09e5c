import type { Chain, ChainRegistry } from '@chainstead/chains';
import { rangeSize } from '@chainstead/core';
import type { MetadataCounts, MetadataStatus, TraitsStatus } from '@chainstead/nft';
import type { ChainStatus, countRows, UnknownHead } from '@chainstead/sync/ingest';
import type { readHistories } from '@chainstead/sync/requests';
import { type DatasetProgress, progressText } from '../dataset-progress/dataset-progress.ts';
import { formatSeconds, renderSources, sourceJson } from './progress.ts';
import { chainName, renderTable } from './text-table.ts';

type TableRows = Awaited<ReturnType<typeof countRows>>[number];

type Histories = Awaited<ReturnType<typeof readHistories>>;

export interface StatusFacts {
  readonly chains: readonly ChainStatus[];
  readonly configured: readonly Pick<Chain, 'id' | 'key'>[];
  readonly unknownHeads: ReadonlyMap<string, UnknownHead>;
  /** Last wanted block or version by chain, as in `unknownHeads`; absent: no end. */
  readonly ends: ReadonlyMap<string, number>;
  readonly rows: readonly TableRows[];
  readonly histories: Histories;
  readonly metadata: readonly MetadataStatus[];
  readonly traits: readonly TraitsStatus[];
  readonly progress: ReadonlyMap<number, readonly DatasetProgress[]>;
  readonly registry: ChainRegistry;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** @param before with final newlines */
export function renderStatus(
  facts: StatusFacts,
  before: readonly string[] = [],
  after: readonly string[] = [],
): string {
  const absent = neverIngested(facts);
  if (facts.chains.length === 0 && absent.length === 0 && before.length + after.length === 0)
    return 'No chain has been ingested yet. Set CHAINS and run "chainstead start".\n';
  const rows = facts.rows.map(({ table, rows: count, exact }) => [table, count, exact ? '' : 'estimated']);
  const chains = facts.chains.map((status) => renderChain(status, facts));
  const missing = absent.map(
    ({ key, id }) => `${key} (${id})\n${neverIngestedText(facts.unknownHeads.get(String(id)))}`,
  );
  return `${[...before, ...chains, ...missing, ...after].join('\n')}\n${renderTable(['table', 'rows', ''], rows)}`;
}

export function toStatusJson(facts: StatusFacts): Readonly<Record<string, unknown>> {
  return {
    chains: facts.chains.map((status) => ({
      chain: chainName(status, facts.registry),
      chain_id: status.chainId,
      head: status.head,
      checkpoint: status.checkpoint,
      lag: status.unknownHead === null && status.stored === null ? status.lag : null,
      stored: storedJson(status.stored),
      unknown_head: unknownHeadJson(status.unknownHead),
      history_start: status.historyStart,
      kept_from: status.retainedFrom,
      first_followed: status.firstFollowed,
      stop: status.stop,
      stall_reason: status.stallReason,
      covered: coveredByDataset(status),
      gaps: status.gaps,
      failures: status.failures,
      upstreams: status.upstreams,
      sources: status.sources.map((source) => sourceJson(source, status.coverage)),
      filling: workLeftJson(status.filling),
      proving: workLeftJson(status.proving),
      progress: (facts.progress.get(status.chainId) ?? []).map(({ subject, state, done, waitsFor }) => ({
        ...{ subject, state, from_block: done?.from ?? null, to_block: done?.to ?? null, waits_for: waitsFor },
      })),
      building: status.building.map(({ state, dataset, status: phase, part, rows }) => {
        return { state, dataset, status: phase, part, rows };
      }),
      histories: Object.fromEntries(
        historyCounts(status.chainId, facts).map(({ status: state, count }) => [state, count]),
      ),
      metadata: metadataJson(ofChain(facts.metadata, status)),
      traits: traitsJson(ofChain(facts.traits, status)),
      updated_at: status.updatedAt.toISOString(),
    })),
    never_ingested: neverIngested(facts).map(({ key, id }) => ({
      chain: key,
      chain_id: id,
      unknown_head: unknownHeadJson(facts.unknownHeads.get(String(id)) ?? null),
    })),
    rows: facts.rows,
    histories: facts.histories.unfinished.map(({ subject: { chainId, kind, address }, ...history }) => ({
      ...{ chain_id: chainId, kind, address, status: history.status },
      calls_made: history.callsMade,
      calls_estimated: history.callsEstimated,
      rows_added: history.rowsAdded,
      attempts: history.attempts,
      due_at: history.dueAt?.toISOString() ?? null,
      error: history.error,
    })),
  };
}

export function storedJson(stored: ChainStatus['stored']): { readonly not_indexed_since: string | null } | null {
  return stored === null ? null : { not_indexed_since: stored.since?.toISOString() ?? null };
}

export function unknownHeadJson(unknown: UnknownHead | null): Readonly<Record<string, string>> | null {
  return unknown === null ? null : { since: unknown.since.toISOString(), reason: unknown.reason };
}

function neverIngested({ chains, configured }: StatusFacts): readonly Pick<Chain, 'id' | 'key'>[] {
  return configured.filter(({ id }) => !chains.some(({ chainId }) => chainId === id));
}

export function neverIngestedText(unknown: UnknownHead | null | undefined): string {
  const reason = unknown?.reason ?? 'see the log of "chainstead start"';
  return `  not ingested yet: ${reason}\n`;
}

function renderChain(status: ChainStatus, facts: StatusFacts): string {
  const name = chainName(status, facts.registry);
  if (status.stored !== null) return `${name} (${status.chainId})\n${storedText(name, status.stored.since)}`;
  const age = Math.max(0, Math.round((facts.now - status.updatedAt.getTime()) / 1_000));
  const lines = [
    `${name} (${status.chainId}), as of ${formatSeconds(age)} ago`,
    `  head        ${headText(status.head, status.unknownHead, facts.now)}`,
    `  indexed to  ${status.checkpoint ?? 'no block yet'}${lagText(status, facts.ends.get(String(status.chainId)), 'blocks')}`,
    `  history     from ${status.historyStart}`,
    ...(status.retainedFrom === 0 ? [] : [`  retained    ERC-20 transfers from block ${status.retainedFrom}`]),
    ...coveredByDataset(status).map(
      ({ dataset, levels, missing }) =>
        `  ${dataset}: ${
          Object.entries(levels)
            .map(([level, blocks]) => `${blocks} blocks ${level}`)
            .join(', ') || 'nothing indexed'
        }; ${missing} blocks missing`,
    ),
    ...renderUnlinked(status, name),
    ...status.failures.map(
      ({ dataset, range, blocks, message }) =>
        `  FAILED      ${dataset} can't decode ${blocks} blocks from ${range.from} to ${range.to}: ${message}`,
    ),
    ...(facts.progress.get(status.chainId) ?? []).map(
      (one) => `  ${one.subject.padEnd(11)} ${progressText(one)}`,
    ),
    ...renderWorkLeft('filling', status.filling),
    ...renderWorkLeft('proving', status.proving),
    ...renderSources(status, facts.now),
    ...renderBuilding(status),
    ...renderHistories(status, facts),
    ...renderMetadata(ofChain(facts.metadata, status)),
    ...renderTraits(ofChain(facts.traits, status)),
    ...(status.stop === null ? [] : [`  STOPPED     ${status.stop.message} [${status.stop.code}]`]),
    ...(status.stallReason === null ? [] : [`  blocked     ${status.stallReason}`]),
  ];
  return `${lines.join('\n')}\n${renderUpstreams(status).replaceAll(/^(?=.)/gm, '  ')}`;
}

/** Counts the dataset with the most: a link counts for all of a block. */
function renderUnlinked(status: ChainStatus, name: string): string[] {
  const blocks = Math.max(0, ...coveredByDataset(status).map(({ levels }) => levels.record ?? 0));
  if (blocks === 0) return [];
  const setting = `RPC_URLS_${name.toUpperCase().replaceAll('-', '_')}`;
  return [
    `  record      ${blocks} blocks match their roots, but nothing links them to the chain yet. Links come when the blocks above are indexed, or sooner with a second upstream in ${setting}`,
  ];
}

export function storedText(name: string, since: Date | null): string {
  const indexed = since === null ? 'not indexed' : `not indexed since ${since.toISOString()}`;
  return `  not configured: stored, ${indexed}; "chainstead chains remove ${name}" deletes it\n`;
}

export function headText(head: number | null, unknown: UnknownHead | null, now: number): string {
  if (unknown === null) return String(head ?? 'unknown');
  const seconds = Math.max(0, Math.round((now - unknown.since.getTime()) / 1_000));
  const last = head === null ? '' : `, last ${head}`;
  return `unknown since ${unknown.since.toISOString()} (${formatSeconds(seconds)}${last}): ${unknown.reason}`;
}

/** Follows the checkpoint. */
export function lagText(
  { checkpoint, lag, unknownHead }: Pick<ChainStatus, 'checkpoint' | 'lag' | 'unknownHead'>,
  end: number | undefined,
  unit: 'blocks' | 'versions',
): string {
  if (end !== undefined && checkpoint !== null && checkpoint >= end) return ', the configured end';
  return lag === null || unknownHead !== null ? '' : `, ${lag} ${unit} behind`;
}

function workLeftJson(left: ChainStatus['proving']): Readonly<Record<string, number>> | null {
  if (left === null) return null;
  return {
    blocks_per_second: left.blocksPerSecond,
    blocks_left: left.blocksLeft,
    seconds_left: left.secondsLeft,
  };
}

function renderWorkLeft(work: 'filling' | 'proving', left: ChainStatus['proving']): string[] {
  if (left === null || left.blocksLeft === 0) return [];
  const { blocksPerSecond, blocksLeft, secondsLeft } = left;
  const rate = blocksPerSecond.toFixed(blocksPerSecond < 10 ? 1 : 0);
  return [`  ${work}     ${blocksLeft} blocks left at ${rate} per second, about ${formatSeconds(secondsLeft)}`];
}

function renderBuilding({ building }: ChainStatus): string[] {
  return building.map(({ state, status, part, rows }) => {
    const progress =
      status === 'clearing' ? 'clearing old rows' : `${Math.floor(part * 100)} % of blocks, ${rows} rows`;
    return `  building    ${state}: ${progress}`;
  });
}

function renderHistories({ chainId }: ChainStatus, facts: StatusFacts): string[] {
  const counts = historyCounts(chainId, facts);
  if (counts.length === 0) return [];
  const unfinished = facts.histories.unfinished.filter(({ subject }) => subject.chainId === chainId);
  return [
    `  histories   ${counts.map(({ status, count }) => `${count} ${status}`).join(', ')}`,
    ...unfinished.map(({ subject, status, callsMade, callsEstimated, error }) => {
      const calls =
        callsEstimated === null ? `${callsMade} calls` : `${callsMade} of about ${callsEstimated} calls`;
      const reason = error === null ? '' : `: ${error.message} [${error.code}]`;
      return `    ${subject.kind} ${subject.address} ${status}, ${calls}${reason}`;
    }),
  ];
}

function historyCounts(chainId: number, { histories }: StatusFacts): Histories['counts'] {
  return histories.counts.filter((counted) => counted.chainId === chainId);
}

function ofChain<One extends { readonly chainId: number }>(all: readonly One[], { chainId }: ChainStatus) {
  return all.find((one) => one.chainId === chainId);
}

function renderMetadata(found: MetadataStatus | undefined): string[] {
  if (found === undefined) return [];
  const failing = found.failing.map(({ address, attempts, error }) => {
    const tries = attempts === 1 ? '1 try' : `${attempts} tries`;
    return `    ${address} after ${tries}: ${error.message} [${error.code}]`;
  });
  const tokens = found.tokens.known + found.tokens.waiting + found.tokens.failing;
  return [
    `  collections ${countsText(found.collections)}`,
    ...failing,
    ...(tokens === 0 ? [] : [`  token data  ${countsText(found.tokens)}`]),
  ];
}

function countsText({ known, waiting, failing }: MetadataCounts): string {
  return `${known} known, ${waiting} waiting, ${failing} failing`;
}

function metadataJson(found: MetadataStatus | undefined): Readonly<Record<string, unknown>> | null {
  if (found === undefined) return null;
  const failing = found.failing.map(({ address, attempts, dueAt, error }) => {
    return { address, attempts, due_at: dueAt?.toISOString() ?? null, error };
  });
  return { collections: found.collections, tokens: found.tokens, failing };
}

function renderTraits(found: TraitsStatus | undefined): string[] {
  if (found === undefined) return [];
  const { history, queue, settle, compute, improve } = found.atWork;
  return [
    `  traits      ${found.computed} computed; waiting: ${history} for history, ${queue + settle + improve} for metadata, ${compute} for computation; ${found.tooLarge} too large`,
  ];
}

function traitsJson(found: TraitsStatus | undefined): Readonly<Record<string, unknown>> | null {
  return found === undefined
    ? null
    : { computed: found.computed, waiting: found.atWork, too_large: found.tooLarge };
}

function renderUpstreams({ upstreams, unknownHead }: ChainStatus): string {
  if (upstreams.length === 0) return 'no upstream has reported yet\n';
  // States that an ended process stored are outdated.
  if (unknownHead?.isSilent === true) return 'no process watches the upstreams\n';
  const rows = upstreams.map((upstream) => [
    upstream.name,
    upstream.reason === null ? upstream.state : `${upstream.state} (${upstream.reason})`,
    upstream.score.toFixed(2),
    String(upstream.head ?? 'unknown'),
    `${Math.round(upstream.latencyMs.p50)}/${Math.round(upstream.latencyMs.p95)} ms`,
    upstream.requests,
    upstream.learnedRate === null ? '' : `${upstream.learnedRate.toFixed(1)}/s`,
    Object.entries(upstream.faults)
      .map(([kind, count]) => `${kind} ${count}`)
      .join(', ') || 'none',
  ]);
  return renderTable(
    ['upstream', 'state', 'score', 'head', 'p50/p95', 'requests', 'learned rate', 'faults'],
    rows,
  );
}

function coveredByDataset(status: ChainStatus) {
  const names = new Set([...status.coverage, ...status.gaps].map(({ dataset }) => dataset));
  return [...names].map((dataset) => {
    const levels: Record<string, number> = {};
    for (const covered of status.coverage)
      if (covered.dataset === dataset)
        levels[covered.proof] = (levels[covered.proof] ?? 0) + rangeSize(covered.range);
    const missing = status.gaps
      .filter((gap) => gap.dataset === dataset)
      .reduce((sum, { range }) => sum + rangeSize(range), 0);
    return { dataset, levels, missing };
  });
}
