import type { Chain } from '@chainstead/chains';
import {
  type Clock,
  createMetricsRegistry,
  type Finding,
  findingsOf,
  quotable,
  silentLogger,
  toQuantity,
} from '@chainstead/core';
import { createNewHeadsSubscription } from '../heads/new-heads-subscription.ts';
import { DEFAULT_LIMITS } from '../limits/call-limits.ts';
import { createPoolMetrics } from '../pool-metrics.ts';
import { createUpstreamState } from '../upstream/create-upstream-state.ts';
import type { UpstreamConfig } from '../upstream-pool.ts';
import type { NodeProbe } from './node-probe.ts';

const latency = findingsOf('latency');
const reading = findingsOf('blocks a second');

const CALLS = 12;
const BLOCKS = 24;
const SIDE_BY_SIDE = 4;
const SLOW_SHARE = 0.5;
const SLOW_MIN_MS = 250;
const COMFORTABLE = 5;

export async function checkLatency(chain: Chain, probe: NodeProbe): Promise<Finding> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const answer = await probe.ask('eth_blockNumber', []);
    if (answer.ok) times.push(answer.ms);
  }
  if (times.length < CALLS)
    return latency.warning(
      `${CALLS - times.length} of ${CALLS} small calls failed`,
      'Other nodes are used instead, which takes time.',
      'Check the limits of the provider and the network for packet loss.',
    );
  times.sort((a, b) => a - b);
  const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
  const found = `${Math.round(p50)} ms, 95 % within ${Math.round(p95)} ms`;
  if (p50 <= Math.max(SLOW_MIN_MS, chain.blockTimeMs * SLOW_SHARE)) return latency.ok(found);
  return latency.warning(
    found,
    'Each new block takes a few calls, so indexing lags behind the chain.',
    'Use a node closer to this machine.',
  );
}

export interface SampledBlock {
  /** Measured. @default the chain's */
  readonly blockTimeMs?: number;
  /** JSON of the block with transactions, and receipts. */
  readonly bytes: number;
  /** Lower-case addresses; null: no topics; JSON sizes. */
  readonly logs: readonly { readonly address: string; readonly topic: string | null; readonly bytes: number }[];
}

export async function checkReadingSpeed(
  chain: Chain,
  probe: NodeProbe,
  head: number,
  onBlock: (block: SampledBlock) => void = () => undefined,
): Promise<Finding> {
  const numbers = Array.from({ length: Math.min(BLOCKS, head + 1) }, (_, index) => head - index);
  const startedAt = performance.now();
  let read = 0;
  const readOn = async (): Promise<void> => {
    for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
      const at = toQuantity(number);
      const block = await probe.ask('eth_getBlockByNumber', [at, true]);
      const receipts = await probe.ask('eth_getBlockReceipts', [at]);
      // Single receipts have their own finding.
      if (block.ok && (receipts.ok || receipts.reaction === 'unsupported')) read++;
      if (block.ok && receipts.ok)
        onBlock({ ...sampledBlock(block.result, receipts.result), blockTimeMs: chain.blockTimeMs });
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, readOn));
  const perSecond = read / Math.max(0.001, (performance.now() - startedAt) / 1_000);
  const made = 1_000 / chain.blockTimeMs;
  const found = `${rateText(perSecond)} with receipts; the chain makes ${rateText(made)}`;
  if (perSecond >= COMFORTABLE * made) return reading.ok(found);
  const remedy = 'Check the limits of the provider and RPC_RATE, or use a faster node.';
  if (perSecond < made) return reading.bad(found, 'This node alone can’t keep up with the chain.', remedy);
  return reading.warning(found, 'Following the chain works, but backfill and verification are slow.', remedy);
}

function sampledBlock(block: unknown, receipts: unknown): SampledBlock {
  const logs = listIn(receipts).flatMap((receipt) => listIn(memberOf(receipt, 'logs')));
  return {
    bytes: jsonBytes(block) + jsonBytes(receipts),
    logs: logs.map((log) => {
      const [topic] = listIn(memberOf(log, 'topics'));
      const address = String(memberOf(log, 'address')).toLowerCase();
      return { address, topic: typeof topic === 'string' ? topic : null, bytes: jsonBytes(log) };
    }),
  };
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function memberOf(value: unknown, name: string): unknown {
  return Object(value)[name];
}

function jsonBytes(value: unknown): number {
  return JSON.stringify(value).length;
}

function percentile(times: readonly number[], share: number): number {
  return times[Math.min(times.length - 1, Math.ceil(times.length * share) - 1)] ?? 0;
}

function rateText(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(2) : String(Math.round(perSecond));
}

const subscription = findingsOf('announcements of blocks');

const WAIT_MIN_MS = 5_000;
const WAIT_MAX_MS = 20_000;
const WAIT_BLOCKS = 3;
const NOTED_MS = 50;

export async function checkSubscription(options: {
  readonly chain: Chain;
  readonly config: UpstreamConfig;
  readonly name: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}): Promise<Finding> {
  const { chain, name } = options;
  const waitMs = Math.min(WAIT_MAX_MS, Math.max(WAIT_MIN_MS, chain.blockTimeMs * WAIT_BLOCKS));
  const shared = { name, chain, clock: options.clock, logger: silentLogger(), limits: DEFAULT_LIMITS };
  const state = createUpstreamState({ ...shared, metrics: createPoolMetrics(createMetricsRegistry()) });
  const announced = createNewHeadsSubscription({
    ...shared,
    config: options.config,
    state,
    acceptsChainId: (id) => id === chain.id || chain.aliasIds.includes(id),
  });
  announced.start();
  try {
    const startedAt = performance.now();
    const number = await announced.next(null, AbortSignal.any([options.signal, AbortSignal.timeout(waitMs)]));
    const ms = Math.round(performance.now() - startedAt);
    if (number !== null) return subscription.ok(`block ${number}, after ${ms} ms`);
    // The reason is recorded just after the waiter resumes.
    await options.clock.sleep(NOTED_MS);
    const { lastError, reason } = state.status(null, null);
    if (state.disabledReason === null)
      return subscription.warning(
        `subscribed; no block came within ${Math.round(ms / 1_000)} s`,
        'Heads are polled over HTTP until one is announced.',
        'Check that the chain produces blocks.',
      );
    return subscription.bad(
      `no subscription: ${quotable(lastError?.text ?? reason ?? 'no answer')}`,
      'No heads are announced. They are polled over HTTP instead.',
      'Check the address, that WebSockets are enabled, and that any proxy in between forwards them.',
    );
  } finally {
    announced.close();
  }
}
