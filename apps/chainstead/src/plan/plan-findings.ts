/** Limits of the machine, the sources and the nodes that an estimate meets. */
import type { Chain } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { type Finding, findingsOf } from '@chainstead/core';
import type { DiskSpace } from '@chainstead/db/server';
import { portalUrl } from '@chainstead/sources';
import type { HistoryEstimate } from '@chainstead/sync/ingest';
import { sizeText } from '../text/cluster-status-text.ts';
import { formatSeconds } from '../text/progress.ts';

export interface PlanFacts {
  readonly chain: Pick<Chain, 'id' | 'key'>;
  readonly hasSources: boolean;
  readonly disk: DiskSpace;
  /** The machine's, or its container's. */
  readonly memoryBytes: number;
  readonly ingestProcesses: number | 'auto';
  /** By node: configured or learned; null: unknown. Empty: there are no nodes. */
  readonly callsPerSecond: readonly (number | null)[];
  /** If nodes read everything, at least. */
  readonly calls: number;
}

export function planFindings(estimate: HistoryEstimate, facts: PlanFacts): readonly Finding[] {
  return [
    diskFinding(estimate, facts.disk),
    memoryFinding(facts),
    ...(facts.callsPerSecond.length === 0 ? [] : [rateFinding(estimate, facts)]),
    ...sourceFindings(estimate, facts),
  ];
}

function diskFinding({ datasets }: HistoryEstimate, disk: DiskSpace): Finding {
  const { ok, warning, bad } = findingsOf('disk');
  const needed = datasets.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  const unknown = datasets.filter(({ bytes }) => bytes === null).map(({ name }) => name);
  if (unknown.length > 0)
    return warning(
      `unknown for ${unknown.join(', ')}`,
      'No source returned a block to measure.',
      'Check RPC_URLS and HISTORY of the chain.',
    );
  const need = `${sizeText(needed)} needed`;
  if (!disk.isKnown)
    return warning(`${need}, free space unknown`, `${disk.reason}.`, 'Compare it with the disk.');
  const has = `${need}, ${sizeText(disk.freeBytes)} free`;
  if (needed > disk.freeBytes)
    return bad(
      has,
      `${sizeText(needed - disk.freeBytes)} are missing.`,
      'Add disk space, start later, or leave datasets out of DATASETS.',
    );
  if (needed > disk.freeBytes * FULL_SHARE)
    return warning(has, 'The WAL and vacuum need space too.', 'Fill a disk to 70 % with tables.');
  return ok(has);
}

/** docs/operate/sizing-and-cost.md */
const FULL_SHARE = 0.7;

function memoryFinding({ memoryBytes, ingestProcesses }: PlanFacts): Finding {
  const { ok, warning } = findingsOf('memory');
  const processes = ingestProcesses === 'auto' ? 1 : ingestProcesses;
  const needed = PROCESS_BYTES * processes + POSTGRES_BYTES;
  const has = `${sizeText(needed)} needed, ${sizeText(memoryBytes)} in this machine or container`;
  if (memoryBytes >= needed) return ok(has);
  return warning(has, 'Processes may be killed.', 'Add memory, or set ROLES=ingest:1.');
}

/** docs/internals/benchmarks.md: peak of an ingest process. */
const PROCESS_BYTES = 500 * 1_024 ** 2;
const POSTGRES_BYTES = 500 * 1_024 ** 2;

function rateFinding(estimate: HistoryEstimate, { callsPerSecond, calls }: PlanFacts): Finding {
  const { ok, warning } = findingsOf('calls of nodes');
  const all = `at least ${Math.ceil(calls).toLocaleString('en-US')} if nodes read everything`;
  const known = callsPerSecond.filter((rate) => rate !== null);
  const rate = known.reduce((sum, one) => sum + one, 0);
  if (known.length === 0 || known.length < callsPerSecond.length) return ok(all);
  const found = `${all}, at ${rate.toFixed(1)} per second: ${formatSeconds(Math.ceil(calls / rate))}`;
  const needsNodes = estimate.reads.every(({ source, perSecond }) => source === null || perSecond === null);
  if (!needsNodes || calls / rate <= (estimate.seconds ?? 0)) return ok(found);
  return warning(
    found,
    'The sample was shorter than the limit shows: the backfill takes longer than estimated.',
    'Raise RPC_RATE, add nodes, or set HISTORY of the chain.',
  );
}

const PUBLIC_PORTAL = 'https://portal.sqd.dev';

function sourceFindings({ reads, seconds }: HistoryEstimate, { chain, hasSources }: PlanFacts): Finding[] {
  const failures = reads.flatMap(({ source, reading, sampled, intended, failure }) => {
    const { warning, bad } = findingsOf(source ?? 'nodes');
    const few = `${reading}: ${sampled} of ${intended} blocks sampled`;
    if (failure === null) {
      if (sampled >= intended) return [];
      const advice = 'Estimate a shorter range, or use a faster source.';
      return [warning(few, 'Rows, disk and time are less exact.', advice)];
    }
    const found = sampled === 0 ? `${reading}: ${failure}` : `${few}: ${failure}`;
    if (source !== null)
      return [
        warning(
          found,
          'Blocks that fail are read from the next source, or from nodes.',
          'Run "chainstead doctor".',
        ),
      ];
    const advice = 'Check RPC_URLS of the chain: old blocks may need an archive plan.';
    return [
      seconds === null
        ? bad(found, 'Some blocks can be read nowhere.', advice)
        : warning(found, 'Sources have these blocks.', advice),
    ];
  });
  if (hasSources) return failures;
  const { ok, warning } = findingsOf('sources');
  if (portalUrl(PUBLIC_PORTAL, chain) === PUBLIC_PORTAL) return [...failures, ok('none: nodes read everything')];
  const line = `HISTORY_${environmentSuffix(chain)}=portal:${PUBLIC_PORTAL}`;
  return [
    ...failures,
    warning('none', 'Nodes read everything.', `Set ${line}: it has this chain, without a key.`),
  ];
}
