import { rangeSize } from '@chainstead/core';
import { type ChainStatus, rangesFromSource } from '@chainstead/sync/ingest';

type SourceStatus = ChainStatus['sources'][number];
type UseStatus = SourceStatus['uses']['blocks'];

const RANGES_SHOWN = 3;
const FILES_SHOWN = 5;
const RANGES_IN_JSON = 100;

export function renderSources(
  { sources, unknownHead, coverage }: Pick<ChainStatus, 'sources' | 'unknownHead' | 'coverage'>,
  now: number,
): string[] {
  // An ended process reads nothing.
  if (unknownHead?.isSilent === true) return [];
  return sources.flatMap(({ name, uses: { blocks, logs }, refusals = [] }) => [
    `  source      ${name}: ${useText('whole blocks', blocks, now)}; ${useText('blocks of logs', logs, now)}`,
    ...refusals.slice(0, FILES_SHOWN).map(({ reason }) => `    left out: ${reason}`),
    ...(refusals.length > FILES_SHOWN ? [`    left out: ${refusals.length - FILES_SHOWN} more files`] : []),
    ...rangesText(coverage, name),
  ]);
}

function rangesText(coverage: ChainStatus['coverage'], name: string): string[] {
  const ranges = rangesFromSource(coverage, name);
  if (ranges.length === 0) return [];
  const blocks = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const newest = ranges.slice(0, RANGES_SHOWN).map(({ from, to }) => `${from} to ${to}`);
  const more = ranges.length > RANGES_SHOWN ? `, and ${ranges.length - RANGES_SHOWN} older ranges` : '';
  return [`    ${blocks} indexed blocks come from it: ${newest.join(', ')}${more}`];
}

function useText(noun: string, { blocks, reason, until }: UseStatus, now: number): string {
  if (reason === null) return `${blocks} ${noun}`;
  if (until === null || until <= now) return `${blocks} ${noun}, last failure: ${reason}`;
  const time = new Date(until).toISOString().slice(11, 16);
  return `${blocks} ${noun}, left alone until ${time} UTC: ${reason}`;
}

export function sourceJson(
  { name, available, uses, refusals = [] }: SourceStatus,
  coverage: ChainStatus['coverage'],
): Readonly<Record<string, unknown>> {
  const indexed = rangesFromSource(coverage, name);
  return {
    ...{ name, available, blocks: useJson(uses.blocks), logs: useJson(uses.logs) },
    left_out: refusals,
    indexed_blocks: indexed.reduce((sum, range) => sum + rangeSize(range), 0),
    newest_ranges: indexed.slice(0, RANGES_IN_JSON),
  };
}

function useJson({ blocks, failures, reason, until }: UseStatus): Readonly<Record<string, unknown>> {
  const leftAloneUntil = until === null ? null : new Date(until).toISOString();
  return { blocks_read: blocks, failures, reason, left_alone_until: leftAloneUntil };
}
