import { cut } from '../../layout/html.ts';

/** What to do where a chain stands still, by the code of what stopped it; the same as in docs/operating.md. */
const ADVICE: Readonly<Record<string, string>> = {
  NO_UPSTREAM: 'Check RPC_URLS of the chain. It is tried again by itself.',
  BLOCK_PART_UNAVAILABLE:
    'Add a node with traces, or another one: datasets that need them have a gap, the others go on.',
  UNPROVEN_BLOCK: 'Add another node; or set PROOF of the chain to record, to keep such blocks as unproven.',
  REORG_TOO_DEEP:
    'Find out which branch is right, with a block explorer. If it is that of the nodes, start once with a larger REORG_DEPTH_MAX of the chain.',
  VERSIONS_PRUNED:
    'The fullnodes no longer have the oldest versions: give one that does, or let history begin later. Following goes on.',
};

/** What to do about a stop. */
export function adviceFor(code: string): string {
  return ADVICE[code] ?? `Look up ${cut(code)} in docs/errors.md, and the log of the role ingest.`;
}

export const HELD_UP_ADVICE = 'It goes on by itself once the cause is gone. If the cause is a node, add another one.';
export const SILENT_ADVICE =
  'No process with the role ingest works on this chain: start one, or look why it does not run.';
export const NEVER_ADVICE =
  'The log of the role ingest says what it waits for; most often no node of the chain answers.';
