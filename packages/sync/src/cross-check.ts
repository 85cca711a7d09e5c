/**
 * The second opinion: on chains whose headers commit to nothing that can be recomputed, another upstream is asked for the
 * same block. Two that agree make the level `cross`; where two disagree, a third decides, and nobody's word is `unproven`.
 */
import type { Chain, ProofPolicy } from '@chainstead/chains';
import { ChainsteadError, type Log } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { type ProvenBlock, readProvenBlock } from './proven-block.ts';

/** The block as it is, or with the level that a second upstream's answer gives it. Other levels pass unchanged. */
export async function crossCheck(
  pool: UpstreamPool,
  chain: Chain,
  policy: ProofPolicy,
  block: ProvenBlock,
  signal?: AbortSignal,
): Promise<ProvenBlock> {
  if (block.level !== 'not-applicable') return block;
  const second = await readElsewhere(pool, chain, policy, block, [block.upstream], signal);
  if (second === null) return block;
  if (sameContent(block, second)) return { ...block, level: 'cross' };
  const third = await readElsewhere(pool, chain, policy, block, [block.upstream, second.upstream], signal);
  if (third === null) return { ...block, level: 'unproven', reason: 'upstreams-disagree' };
  for (const [agreeing, outvoted] of [
    [block, second],
    [second, block],
  ] as const)
    if (sameContent(agreeing, third)) {
      pool.reportFault(
        outvoted.upstream,
        outvoted.logs.length < agreeing.logs.length ? 'missing-logs' : 'surplus-logs',
        {
          block: block.header.number,
          outvoted_by: [agreeing.upstream, third.upstream],
        },
      );
      return { ...agreeing, level: 'cross' };
    }
  return { ...block, level: 'unproven', reason: 'upstreams-disagree' };
}

/** Null when no other upstream can answer: there is no second opinion then, which is not an error. */
async function readElsewhere(
  pool: UpstreamPool,
  chain: Chain,
  policy: ProofPolicy,
  block: ProvenBlock,
  asked: readonly string[],
  signal?: AbortSignal,
): Promise<ProvenBlock | null> {
  const known = pool.status().map((upstream) => upstream.name);
  if (known.every((name) => asked.includes(name))) return null;
  try {
    return await readProvenBlock(pool, chain, policy, block.header.number, signal, new Set(asked));
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ChainsteadError) return null;
    throw error;
  }
}

function sameContent(a: ProvenBlock, b: ProvenBlock): boolean {
  return a.header.hash === b.header.hash && contentOf(a.logs) === contentOf(b.logs);
}

/** What rows are made of; node-specific extras such as timestamps stay out. */
function contentOf(logs: readonly Log[]): string {
  return logs
    .map((log) => [log.transactionHash, log.logIndex, log.address, ...log.topics, log.data].join(' '))
    .join('\n');
}
