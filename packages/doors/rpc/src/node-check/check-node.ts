import type { Chain } from '@chainstead/chains';
import {
  type CheckReport,
  type Clock,
  type FindingList,
  findingList,
  findingsOf,
  type OnFinding,
  systemClock,
} from '@chainstead/core';
import { RequestAbortedError } from '../errors.ts';
import { nameUpstreams } from '../redact-secrets.ts';
import type { UpstreamConfig } from '../upstream-pool.ts';
import { checkBlockTime } from './check-block-time.ts';
import { checkBranch, checkFinalized, checkHead, type KnownBlock, type OtherHead } from './check-head.ts';
import { checkOldBlocks, checkOldState } from './check-history.ts';
import { checkChainId, checkClient } from './check-identity.ts';
import { checkAccountIndex, checkAccountProofs, checkTraces } from './check-optional-methods.ts';
import { checkPriceContracts } from './check-price-contracts.ts';
import { checkRate, rateLimitFinding } from './check-rate.ts';
import { checkBatches, checkLogRange, checkReceipts } from './check-reads.ts';
import { checkLatency, checkReadingSpeed, type SampledBlock } from './check-speed.ts';
import { checkSubscription } from './check-subscription.ts';
import { createNodeProbe, type NodeProbe } from './node-probe.ts';
import { isBlock, probeBlock, quantityOf } from './read-answers.ts';

export interface NodeCheckOptions {
  readonly chain: Chain;
  readonly upstream: UpstreamConfig;
  readonly others?: readonly UpstreamConfig[];
  readonly known?: readonly KnownBlock[];
  /** An indexed dataset reads traces. @default false */
  readonly needsTraces?: boolean;
  /** Unfinished checks are reported. @default 120,000 */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** @default no report before the end */
  readonly onFinding?: OnFinding | undefined;
  readonly onBlock?: ((block: SampledBlock) => void) | undefined;
}

const DEADLINE_MS = 120_000;
/** Measuring a limit of 1,200 calls a minute takes up to 3,700. */
const CALLS_MAX = 5_000;
const REQUEST_SHARE = 6;
const OTHERS_MAX = 4;
/** Nodes on the same chain agree on blocks this far below another's head. */
const SETTLED_DEPTH = 64;

/** Within {@link CALLS_MAX}, time and rate. Rejects only for an internal defect. */
export async function checkNode(options: NodeCheckOptions): Promise<CheckReport> {
  const { chain, upstream, clock = systemClock, deadlineMs = DEADLINE_MS } = options;
  const timeUp = AbortSignal.timeout(deadlineMs);
  const signal = options.signal === undefined ? timeUp : AbortSignal.any([options.signal, timeUp]);
  const [name = ''] = nameUpstreams([upstream]);
  const startedAt = performance.now();
  if (/^wss?:/.test(upstream.url)) {
    const finding = await checkSubscription({ chain, config: upstream, name, clock, signal });
    return { name, findings: [finding], calls: 2, tookMs: performance.now() - startedAt };
  }
  const probing = { timeoutMs: Math.ceil(deadlineMs / REQUEST_SHARE), callsMax: CALLS_MAX, signal, clock };
  const probe = createNodeProbe({ ...probing, config: upstream });
  const others = (options.others ?? [])
    .filter(({ url }) => url !== upstream.url && /^https?:/.test(url))
    .slice(0, OTHERS_MAX)
    .map((config) => createNodeProbe({ ...probing, config }));
  const { findings, add } = findingList(options.onFinding);
  try {
    await checkAll({ ...options, clock, signal, deadlineMs }, probe, others, add);
  } catch (error) {
    if (!(error instanceof RequestAbortedError)) throw error;
    const found = `used up after ${probe.calls} calls, before all checks were done`;
    const remedy = 'Find the slow checks above. `chainstead doctor` has a longer time limit than the console.';
    add(findingsOf('time').warning(found, 'The missing checks have no result.', remedy));
  } finally {
    await Promise.all([probe, ...others].map((node) => node.close()));
  }
  if (probe.measuredRate === null && probe.learnedRate !== null) add(rateLimitFinding(chain, probe.learnedRate));
  return { name, findings, calls: probe.calls, tookMs: performance.now() - startedAt };
}

/** In sequence: speed and limits are the node's. @throws RequestAbortedError */
async function checkAll(
  options: NodeCheckOptions & {
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly deadlineMs: number;
  },
  probe: NodeProbe,
  others: readonly NodeProbe[],
  add: FindingList['add'],
): Promise<void> {
  const { known = [], needsTraces = false, clock, onBlock } = options;
  const identity = await checkChainId(options.chain, probe);
  add(identity);
  if (identity.verdict === 'bad') return;
  // First: refusals would distort all other checks.
  add(...(await checkRate(options.chain, probe, options)));
  add(await checkClient(probe));
  const blockTime = await checkBlockTime(options.chain, probe);
  if (blockTime.finding !== null) add(blockTime.finding);
  const chain = { ...options.chain, blockTimeMs: blockTime.blockTimeMs };
  const otherHeads = await readHeads(chain, others);
  const { number: head, findings: ofHead } = await checkHead(chain, probe, otherHeads, clock);
  add(...ofHead);
  if (head === null) return;
  const elsewhere = await readKnown(others, Math.min(head, ...otherHeads.map((other) => other.head)));
  add(await checkBranch(probe, [...known.filter(({ number }) => number <= head), ...elsewhere]));
  add(await checkFinalized(chain, probe, head));
  add(await checkReceipts(probe, head));
  add(await checkLogRange(chain, probe, head));
  add(await checkBatches(probe, clock, options.signal));
  add(await checkOldBlocks(chain, probe, head));
  add(await checkOldState(chain, probe, head));
  add(await checkTraces(probe, head, needsTraces));
  add(await checkAccountProofs(probe, head));
  add(await checkAccountIndex(probe, head));
  add(...(await checkPriceContracts(chain, probe)));
  add(await checkLatency(chain, probe));
  add(await checkReadingSpeed(chain, probe, head, onBlock));
}

async function readHeads(
  chain: Chain,
  others: readonly NodeProbe[],
): Promise<(OtherHead & { probe: NodeProbe })[]> {
  const heads = await Promise.all(
    others.map(async (probe) => {
      const [id, head] = [await probe.ask('eth_chainId', []), await probe.ask('eth_blockNumber', [])];
      const number = id.ok && Number(id.result) === chain.id ? quantityOf(head) : null;
      return number === null ? [] : [{ name: probe.name, head: number, probe }];
    }),
  );
  return heads.flat();
}

async function readKnown(others: readonly NodeProbe[], lowestHead: number): Promise<KnownBlock[]> {
  const number = lowestHead - SETTLED_DEPTH;
  if (number < 0) return [];
  const blocks = await Promise.all(
    others.map(async (probe) => {
      const block = await probeBlock(probe, number);
      return isBlock(block) ? [{ number, hash: block.header.hash, source: probe.name }] : [];
    }),
  );
  return blocks.flat();
}

/** Null if the node returns none. */
export async function fetchChainId(upstream: UpstreamConfig, deadlineMs: number): Promise<number | null> {
  const signal = AbortSignal.timeout(deadlineMs);
  const probe = createNodeProbe({
    config: upstream,
    timeoutMs: deadlineMs,
    callsMax: 1,
    signal,
    clock: systemClock,
  });
  try {
    const answer = await probe.ask('eth_chainId', []);
    const id = answer.ok ? Number(answer.result) : Number.NaN;
    return Number.isSafeInteger(id) ? id : null;
  } catch (error) {
    if (error instanceof RequestAbortedError) return null;
    throw error;
  } finally {
    await probe.close();
  }
}
