/** The default of an unknown chain may be far from its block time, by which head and speed are judged. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { type Finding, findingsOf } from '@chainstead/core';
import type { NodeProbe } from './node-probe.ts';
import { isBlock, probeBlock } from './read-answers.ts';

const blockTime = findingsOf('block time');

/** Long enough for timestamps in whole seconds. */
const BLOCKS = 100;
/** A setting further off is wrong. */
const TOLERATED_FACTOR = 1.25;

/** From two heads. @returns milliseconds, those of the chain if unknown; a finding for a chain with settings alone */
export async function checkBlockTime(
  chain: Chain,
  probe: NodeProbe,
): Promise<{ readonly blockTimeMs: number; readonly finding: Finding | null }> {
  const measured = await measureBlockTime(probe);
  if (measured === null) return { blockTimeMs: chain.blockTimeMs, finding: null };
  const { blockTimeMs, blocks } = measured;
  const found = `${secondsText(blockTimeMs)} over ${blocks} blocks`;
  // The settings of a known chain are those of the program.
  if (createChainRegistry().find(chain.id) !== null) return { blockTimeMs, finding: null };
  const factor = blockTimeMs / chain.blockTimeMs;
  if (factor <= TOLERATED_FACTOR && factor >= 1 / TOLERATED_FACTOR)
    return { blockTimeMs, finding: blockTime.ok(found) };
  const finding = blockTime.warning(
    `${found}; the setting is ${secondsText(chain.blockTimeMs)}`,
    'Lag, polling and retention are judged by the setting.',
    `Set BLOCK_TIME_MS_${environmentSuffix(chain)}=${blockTimeMs}.`,
  );
  return { blockTimeMs, finding };
}

/** Null: the blocks are missing, or have equal timestamps. */
async function measureBlockTime(probe: NodeProbe) {
  const newest = await probeBlock(probe, 'latest');
  if (!isBlock(newest)) return null;
  const { number, timestamp } = newest.header;
  const blocks = Math.min(BLOCKS, number);
  const older = blocks === 0 ? null : await probeBlock(probe, number - blocks);
  if (!isBlock(older) || older.header.timestamp >= timestamp) return null;
  return { blocks, blockTimeMs: Math.round(((timestamp - older.header.timestamp) * 1_000) / blocks) };
}

function secondsText(ms: number): string {
  return `${Number((ms / 1_000).toPrecision(3))} s`;
}
