import type { Chain } from '@chainstead/chains';
import { type Finding, findingsOf, toQuantity } from '@chainstead/core';
import type { NodeProbe } from './node-probe.ts';

const latency = findingsOf('latency');
const reading = findingsOf('blocks a second');

const CALLS = 12;
const BLOCKS = 24;
const SIDE_BY_SIDE = 4;
/** Of the time between two blocks, what one small call may take. */
const SLOW_SHARE = 0.5;
const SLOW_MIN_MS = 250;
/** As many times faster than the chain is, a history is caught up with in good time. */
const COMFORTABLE = 5;

/** How long a small call takes: what half, and 95 % of them, need at most. */
export async function checkLatency(chain: Chain, probe: NodeProbe): Promise<Finding> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const answer = await probe.ask('eth_blockNumber', []);
    if (answer.ok) times.push(answer.ms);
  }
  if (times.length < CALLS)
    return latency.warning(
      `${CALLS - times.length} of ${CALLS} small calls failed`,
      'Others are asked instead, which takes time.',
      'Look for limits of the provider, and for losses on the way.',
    );
  times.sort((one, other) => one - other);
  const [half, most] = [percentile(times, 0.5), percentile(times, 0.95)];
  const found = `${Math.round(half)} ms, 95 % within ${Math.round(most)} ms`;
  if (half <= Math.max(SLOW_MIN_MS, chain.blockTimeMs * SLOW_SHARE)) return latency.ok(found);
  return latency.warning(
    found,
    'Each new block takes a few calls, so the chain is followed with a delay.',
    'Use a node nearer to this machine.',
  );
}

/** How fast whole blocks are read, a few side by side. */
export async function checkReadingSpeed(chain: Chain, probe: NodeProbe, head: number): Promise<Finding> {
  const numbers = Array.from({ length: Math.min(BLOCKS, head + 1) }, (_, index) => head - index);
  const startedAt = performance.now();
  let read = 0;
  const readOn = async (): Promise<void> => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
      const at = toQuantity(number);
      const block = await probe.ask('eth_getBlockByNumber', [at, false]);
      const receipts = await probe.ask('eth_getBlockReceipts', [at]);
      // Where receipts come one by one only, that has a finding of its own.
      if (block.ok && (receipts.ok || receipts.reaction === 'unsupported')) read++;
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, readOn));
  const perSecond = read / Math.max(0.001, (performance.now() - startedAt) / 1_000);
  const made = 1_000 / chain.blockTimeMs;
  const found = `${rateText(perSecond)} with receipts; the chain makes ${rateText(made)}`;
  if (perSecond >= COMFORTABLE * made) return reading.ok(found);
  const remedy = 'Look for limits of the provider (RPC_RATE is kept to), or use a faster node.';
  if (perSecond < made) return reading.bad(found, 'It alone can’t keep up with the chain.', remedy);
  return reading.warning(found, 'Following works, but a history takes long to be read and proven.', remedy);
}

/** @param times ascending */
function percentile(times: readonly number[], share: number): number {
  return times[Math.min(times.length - 1, Math.ceil(times.length * share) - 1)] ?? 0;
}

function rateText(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(2) : String(Math.round(perSecond));
}
