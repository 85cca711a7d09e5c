import { createChainRegistry } from '@chainstead/chains';
import { type Clock, errorText, type Logger, sleepUnlessAborted, toQuantity } from '@chainstead/core';
import { blockCall } from '../blocks/fetch-blocks.ts';
import { NoUpstreamError, RequestAbortedError, RpcCallError, UpstreamFault } from '../errors.ts';
import { parseHeader } from '../formats/parse-block.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import type { PoolLimits } from '../limits/call-limits.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { backOffMs } from '../upstream-http/http-exchange.ts';
import type { ChainMark } from '../upstream-pool.ts';
import type { HeadProbe } from './probe-head.ts';

export interface UpstreamCheck {
  /** @throws NoUpstreamError if all are refused, or none responds in time */
  start(): Promise<void>;
  /** After a contradiction: asks the chain id again, and for the mark. Until it returns both, the upstream is excluded. */
  doubt(name: string, mark: ChainMark | null): Promise<void>;
}

type Verdict = 'in-use' | 'refused' | 'down';

const RETRY_BASE_MS = 300;
const RETRY_MAX_MS = 3_000;
/** Wrong answers come in series. */
const DOUBT_EVERY_MS = 1_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: checks, their pace and their results are one state.
export function createUpstreamCheck(options: {
  readonly chain: { readonly id: number; readonly key: string };
  readonly upstreams: readonly Upstream[];
  readonly acceptsChainId: (id: number) => boolean;
  readonly probe: HeadProbe;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: PoolLimits;
  readonly closing: AbortSignal;
}): UpstreamCheck {
  const { chain, upstreams, acceptsChainId, probe, clock, logger, limits, closing } = options;
  let isWatching = false;
  const marks = new Map<string, ChainMark>();
  const doubted = new Map<string, { readonly at: number; readonly check: Promise<void> }>();

  async function verify(upstream: Upstream): Promise<Verdict> {
    const { state } = upstream;
    const wasOut = state.disabledReason !== null;
    let id: number;
    try {
      id = Number(await upstream.call('eth_chainId', [], { rank: 'head', signal: closing }));
    } catch (error) {
      if (error instanceof UpstreamFault && error.hints.reaction === 'misconfigured') return 'refused';
      if (error instanceof RequestAbortedError) return 'down';
      if (!(error instanceof UpstreamFault || error instanceof RpcCallError)) throw error;
      if (wasOut) state.disable(error instanceof UpstreamFault ? `${error.kind}: ${error.text}` : error.message);
      return 'down';
    }
    if (!acceptsChainId(id)) {
      const other = createChainRegistry().find(id);
      const answered = other === null ? `${id}` : `${id} (${other.key})`;
      state.blamed('wrong-chain', `answers chain id ${answered}, not ${chain.id}`);
      state.disable(`is on the wrong chain: answers chain id ${answered}, not ${chain.id} (${chain.key})`);
      return 'refused';
    }
    if (!(await hasMark(upstream))) return 'refused';
    if (wasOut) {
      state.enable();
      await probeCapabilities(upstream);
    }
    return 'in-use';
  }

  /** Chain ids do not show a fork, or a chain that was restarted. A block that the upstream lacks is no evidence. */
  async function hasMark(upstream: Upstream): Promise<boolean> {
    const { state, name } = upstream;
    const mark = marks.get(name);
    if (mark === undefined) return true;
    let hash: string;
    try {
      const { method, params } = blockCall(mark.number);
      const json = await upstream.call(method, params, { rank: 'head', signal: closing });
      if (json === null) return true;
      ({ hash } = parseHeader(json));
    } catch (error) {
      if (error instanceof RequestAbortedError || error instanceof UpstreamFault || error instanceof RpcCallError)
        return true;
      if (!(error instanceof MalformedAnswerError)) throw error;
      hash = 'malformed';
    }
    if (hash === mark.hash) return true;
    const text = `its block ${mark.number} is ${hash}, not ${mark.hash}`;
    state.blamed('wrong-chain', text);
    state.disable(`is on another chain than the indexed one: ${text}`);
    return false;
  }

  /** Others are detected at first use: failures are only logged. */
  async function probeCapabilities(upstream: Upstream): Promise<void> {
    const { capabilities } = upstream.state;
    try {
      const given = { signal: closing, rank: 'head' } as const;
      const batch = ['eth_blockNumber', 'eth_chainId'].map((method) => ({ method, params: [] }));
      const [head] = await Promise.all([probe.ask(upstream), upstream.callMany(batch, given)]);
      const call = { method: 'eth_getBlockReceipts', params: [toQuantity(head.number)] };
      const [receipts] = await upstream.callMany([call], given);
      if (receipts?.ok) capabilities.blockReceipts = receipts.result !== null ? true : null;
      else if (receipts?.error instanceof UpstreamFault && receipts.error.hints.reaction === 'unsupported')
        capabilities.blockReceipts = false;
    } catch (error) {
      const facts = { chain: chain.key, upstream: upstream.name, error: errorText(error) };
      logger.info(facts, 'Capabilities not probed yet');
    }
  }

  async function insist(upstream: Upstream, signal: AbortSignal): Promise<Verdict> {
    for (let tries = 0; ; tries++) {
      const verdict = await verify(upstream);
      if (verdict !== 'down' || signal.aborted) return verdict;
      await sleepUnlessAborted(clock, backOffMs(tries, RETRY_BASE_MS, RETRY_MAX_MS), signal);
      if (signal.aborted) return verdict;
    }
  }

  async function verifyAgain(upstream: Upstream): Promise<void> {
    try {
      await verify(upstream);
    } catch (error) {
      logger.error({ chain: chain.key, upstream: upstream.name, err: error }, 'Upstream check failed');
    }
  }

  /** Tests excluded upstreams and open circuits: recovery needs no traffic. */
  async function watch(): Promise<void> {
    while (!closing.aborted) {
      await sleepUnlessAborted(clock, Math.max(50, limits.recheckMs / 5), closing);
      if (closing.aborted) return;
      const now = clock.now();
      const due = upstreams.filter(({ state }) => state.recheckAt !== null && state.recheckAt <= now);
      await Promise.all(due.map(verifyAgain));
    }
  }

  function refuse(verdicts: readonly (Verdict | undefined)[]): NoUpstreamError {
    const failures = upstreams.map(({ name: upstream, state: { disabledReason } }) => {
      return { upstream, reason: disabledReason ?? 'no answer' };
    });
    const retryable = verdicts.some((verdict) => verdict !== 'refused');
    return new NoUpstreamError({ chain: chain.key, failures, retryable });
  }

  return {
    async start() {
      const over = new AbortController();
      const verdicts = upstreams.map((): Verdict | undefined => undefined);
      const firstInUse = Promise.withResolvers<void>();
      const all = Promise.all(
        upstreams.map(async (upstream, index) => {
          verdicts[index] = await insist(upstream, AbortSignal.any([over.signal, closing]));
          if (verdicts[index] === 'in-use') firstInUse.resolve();
        }),
      );
      const timeUp = sleepUnlessAborted(clock, limits.startTimeoutMs, over.signal);
      await Promise.race([all, firstInUse.promise, timeUp]);
      if (verdicts.includes('in-use'))
        await Promise.race([all, sleepUnlessAborted(clock, limits.startGraceMs, over.signal)]);
      over.abort();
      if (!upstreams.some(({ state }) => state.disabledReason === null)) throw refuse(verdicts);
      if (!isWatching) {
        isWatching = true;
        void watch();
      }
    },
    async doubt(name, mark) {
      const upstream = upstreams.find((candidate) => candidate.name === name);
      if (upstream === undefined) return;
      if (mark !== null) marks.set(name, mark);
      const before = doubted.get(name);
      const isNew = before === undefined || mark !== null || clock.now() - before.at >= DOUBT_EVERY_MS;
      const { at, check } = isNew ? { at: clock.now(), check: verifyAgain(upstream) } : before;
      doubted.set(name, { at, check });
      await check;
    },
  };
}
