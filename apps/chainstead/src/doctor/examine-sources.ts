/** What sources of history have, and whether a sample of their blocks can be proven. */
import {
  type BlockRange,
  createMetricsRegistry,
  errorText,
  type Finding,
  findingsOf,
  intersectRanges,
  orAborted,
  rangeSize,
  silentLogger,
} from '@chainstead/core';
import { type BlockSource, SourceError } from '@chainstead/sources';
import { proveSourceRange, readSettledHeight } from '@chainstead/sync/ingest';
import type { ChainConfiguration } from '../configuration/index.ts';
import { createSignerProcesses } from '../session/signer-processes.ts';
import { openPool, openSources } from '../session/upstream-pools.ts';
import type { ExamineOptions } from './examine-nodes.ts';
import type { Report } from './report.ts';

/** @param only key of a chain; null: all */
export async function examineSources(options: ExamineOptions, only: string | null): Promise<Report[]> {
  const chains = options.configuration.chains.filter(
    ({ chain, history }) => history.length > 0 && (only === null || chain.key === only),
  );
  const reports: Report[] = [];
  for (const configured of chains) reports.push(...(await examineChain(options, configured)));
  return reports;
}

async function examineChain(options: ExamineOptions, configured: ChainConfiguration): Promise<Report[]> {
  const { clock, signal } = options;
  const { chain } = configured;
  const logger = silentLogger();
  const pool = openPool(configured, { logger, metrics: createMetricsRegistry(), clock });
  const signers = createSignerProcesses();
  const recoverSigners = signers.recover;
  const sources = openSources(configured, { logger, clock, recoverSigners });
  const settled = pool.start().then(() => readSettledHeight(pool, chain));
  // Each source reports it.
  settled.catch(() => undefined);
  const reports: Report[] = [];
  try {
    for (const source of sources) {
      const startedAt = performance.now();
      const own = AbortSignal.any([signal, AbortSignal.timeout(options.deadlineMs)]);
      const trial = { source, settled, reading: { pool, chain, transactions: true, recoverSigners } };
      const findings = await orAborted(examineSource(trial, own), own).catch((error: unknown) => {
        signal.throwIfAborted();
        if (!own.aborted) throw error;
        const what = `no result within ${options.deadlineMs / 1_000} s`;
        return [failureOf('time', new SourceError({ source: source.name, fault: 'unavailable', what }))];
      });
      const tookMs = performance.now() - startedAt;
      reports.push({ part: 'sources', chain: chain.key, name: source.name, findings, tookMs });
    }
    return reports;
  } finally {
    await Promise.all([pool.close(), signers.close(), ...sources.map((source) => source.close())]);
  }
}

interface Trial {
  readonly source: BlockSource;
  readonly settled: Promise<number>;
  readonly reading: Parameters<typeof proveSourceRange>[0];
}

async function examineSource({ source, settled, reading }: Trial, signal: AbortSignal): Promise<Finding[]> {
  let available: readonly BlockRange[];
  try {
    available = await source.available(signal);
  } catch (error) {
    signal.throwIfAborted();
    return [failureOf('connection', error)];
  }
  const has = blocksFinding(available);
  const found = (sample: Finding): Finding[] => [has, ...filesFindings(source), sample];
  const blocks = findingsOf('sample');
  try {
    const sample = sampleOf(available, await settled);
    if (sample.length === 0) return found(blocks.ok('none of its blocks is final on the nodes'));
    for (const number of sample) {
      const range = { from: number, to: number };
      const { failure } = await proveSourceRange(reading, source, range, signal);
      if (failure !== null) return found(failureOf('sample', failure));
    }
    return found(blocks.ok(`proven: blocks ${sample.join(', ')}`));
  } catch (error) {
    signal.throwIfAborted();
    const effect = 'Nodes confirm the hashes of its blocks.';
    return found(blocks.warning(`not read: ${errorText(error)}`, effect, 'Check RPC_URLS of the chain.'));
  }
}

function blocksFinding(available: readonly BlockRange[]): Finding {
  const { ok, warning } = findingsOf('blocks');
  const [first, last] = [available[0], available.at(-1)];
  if (first === undefined || last === undefined)
    return warning('none', 'All blocks are read elsewhere.', 'Check HISTORY of the chain.');
  const holes = available.length === 1 ? '' : `, in ${available.length} ranges`;
  return ok(`${first.from} to ${last.to}${holes}`);
}

const FILES_SHOWN = 10;

function filesFindings(source: BlockSource): Finding[] {
  const files = source.refusals?.() ?? [];
  const { warning } = findingsOf('files');
  return files
    .slice(0, FILES_SHOWN)
    .map(({ reason }) =>
      warning(`left out: ${reason}`, 'Its blocks are read from another file, or elsewhere.', 'Replace the file.'),
    );
}

/** Shares of the blocks before: the first blocks of a chain are empty and prove little. */
const SAMPLE = [1, 0.5, 0.1] as const;

/** Blocks near the end, the middle and the start. The genesis block has no transactions. */
function sampleOf(available: readonly BlockRange[], settled: number): number[] {
  const ranges = intersectRanges(available, settled < 1 ? [] : [{ from: 1, to: settled }]);
  const count = ranges.reduce((sum, range) => sum + rangeSize(range), 0);
  const numbers = SAMPLE.map((share) => {
    let offset = Math.max(0, Math.floor(count * share) - 1);
    for (const range of ranges) {
      if (offset < rangeSize(range)) return range.from + offset;
      offset -= rangeSize(range);
    }
    return null;
  });
  return [...new Set(numbers.filter((number) => number !== null))];
}

function failureOf(subject: string, error: unknown): Finding {
  const { warning, bad } = findingsOf(subject);
  const { fault, what } = error instanceof SourceError ? error.facts : { fault: 'wrong', what: errorText(error) };
  const elsewhere = 'Its blocks are read from the next source, or from nodes.';
  const text = String(what);
  if (fault === 'lacking')
    return warning(
      `${text}: read from nodes`,
      'Without this field, blocks have no proof.',
      'Add another source.',
    );
  if (fault === 'wrong') return bad(text, elsewhere, 'Remove it from HISTORY of the chain.');
  if (fault === 'refused') return bad(text, elsewhere, 'Check HISTORY of the chain: its URL and key.');
  return warning(text, elsewhere, 'Check that it is up, and run this again.');
}
