import { type Clock, errorText, type Logger, sleepUnlessAborted } from '@chainstead/core';
import { pauseFor } from '../aborting.ts';
import { RequestAbortedError, UpstreamsExhaustedError } from '../errors.ts';
import { isAllowed } from '../failover/failover.ts';
import type { PoolLimits } from '../limits/call-limits.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { backOffMs } from '../upstream-http/http-exchange.ts';
import type { Answer, Head, RequestOptions, UpstreamPool } from '../upstream-pool.ts';
import type { NewHeadsSubscription } from './new-heads-subscription.ts';
import type { HeadProbe } from './probe-head.ts';

export interface HeadTracker extends Pick<UpstreamPool, 'getHead' | 'waitForHead'> {
  /** Among upstreams in use, without the named one; null before the first. */
  bestNumber(except?: string): number | null;
}

const GRACE_MS = 250;
const POLLED = 2;
const POLL_ALL_EVERY = 5;
const SAFETY_POLL_FACTOR = 5;
/** Calls of a limited node per poll: the others are left to blocks. */
const POLL_EVERY_CALLS = 10;
const PACED_POLL_MAX_MS = 3_000;
/** After a new head, a limited node is not polled for this part of the block time. */
const QUIET_SHARE = 1 / 2;
const CHASE_MS = 50;
const CHASE_MAX_MS = 2_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: polls and announcements move the same heads.
export function createHeadTracker(options: {
  readonly chain: { readonly key: string; readonly blockTimeMs: number };
  readonly upstreams: readonly Upstream[];
  readonly subscriptions: readonly NewHeadsSubscription[];
  readonly probe: HeadProbe;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: PoolLimits;
  readonly pollIntervalMs: number;
  readonly closing: AbortSignal;
}): HeadTracker {
  const { chain, upstreams, subscriptions, probe, clock, logger, limits, pollIntervalMs, closing } = options;
  let polls = 0;
  let newest = { number: -1, at: Number.NEGATIVE_INFINITY };

  function bestNumber(except?: string): number | null {
    let best: number | null = null;
    for (const { name, state } of upstreams) {
      if (name === except) continue;
      const number = state.disabledReason === null ? probe.last(name)?.number : undefined;
      if (number !== undefined && (best === null || number > best)) best = number;
    }
    return best;
  }

  function available(given: RequestOptions, reasons: Map<string, string>): Upstream[] {
    const best = bestNumber();
    return upstreams
      .filter((upstream) => {
        const { name, state } = upstream;
        if (!isAllowed(upstream, given, reasons)) return false;
        if (state.waitMs() === 0) return true;
        reasons.set(name, state.obstacle);
        return false;
      })
      .toSorted((a, b) => b.state.score(best) - a.state.score(best));
  }

  async function getHead(given: RequestOptions = {}): Promise<Answer<Head>> {
    const started = clock.now();
    for (let round = 0; ; round++) {
      const reasons = new Map<string, string>();
      const head = await gather(options, available(given, reasons), reasons);
      if (given.signal?.aborted) throw new RequestAbortedError('eth_blockNumber', given.signal.reason);
      if (head !== null) return head;
      const wait = backOffMs(round, limits.backOffBaseMs * 2, limits.backOffMaxMs);
      const isHopeless = upstreams.every(({ state }) => state.disabledReason !== null);
      if (isHopeless || round + 1 >= limits.rounds || clock.now() + wait - started > limits.deadlineMs) {
        const failures = [...reasons].map(([upstream, reason]) => ({ upstream, reason }));
        throw new UpstreamsExhaustedError({ chain: chain.key, method: 'eth_blockNumber', failures });
      }
      await pauseFor(clock, wait, given.signal);
    }
  }

  async function poll(isNew: (answer: Answer<Head>) => boolean): Promise<Answer<Head> | null> {
    const candidates = available({}, new Map());
    const requested = polls++ % POLL_ALL_EVERY === 0 ? candidates : candidates.slice(0, POLLED);
    const found = Promise.withResolvers<Answer<Head>>();
    const all = requested.map(async (upstream) => {
      try {
        const answer = { value: await probe.ask(upstream), upstream: upstream.name };
        if (isNew(answer)) found.resolve(answer);
      } catch (error) {
        logger.debug({ chain: chain.key, upstream: upstream.name, error: errorText(error) }, 'Head not read');
      }
    });
    return Promise.race([found.promise, Promise.all(all).then(() => null)]);
  }

  /** Leaves most calls of a learned or configured pace to blocks; 0: no upstream has one. */
  function paceIntervalMs(): number {
    const rates = upstreams.map(({ state, config }) =>
      Math.min(
        state.learnedRate ?? Number.POSITIVE_INFINITY,
        config.requestsPerSecond ?? Number.POSITIVE_INFINITY,
      ),
    );
    return Math.min(PACED_POLL_MAX_MS, (POLL_EVERY_CALLS * 1_000) / Math.max(0, ...rates));
  }

  /** Until the next block may be there, if the pace is slower than the polls. */
  function quietMs(): number {
    if (paceIntervalMs() <= pollIntervalMs) return 0;
    const quiet = Math.min(PACED_POLL_MAX_MS, chain.blockTimeMs * QUIET_SHARE);
    return Math.max(0, newest.at + quiet - clock.now());
  }

  async function nextPoll(after: Head | null, signal: AbortSignal): Promise<number | null> {
    const isAnnounced = subscriptions.some((subscription) => subscription.isLive);
    const interval = Math.max(
      isAnnounced ? pollIntervalMs * SAFETY_POLL_FACTOR : pollIntervalMs,
      paceIntervalMs(),
      quietMs(),
    );
    const ending = new AbortController();
    const either = AbortSignal.any([signal, ending.signal]);
    try {
      return await Promise.race([
        ...subscriptions.map((subscription) => subscription.next(after, either)),
        pauseFor(clock, interval, either).then(() => null),
      ]);
    } finally {
      ending.abort();
    }
  }

  async function waitForHead(after: Head | null, given: AbortSignal): Promise<Answer<Head>> {
    const signal = AbortSignal.any([given, closing]);
    const isNew = createHeadNewness({ upstreams, probe, clock, after });
    const isRecent = after !== null && after.number === newest.number && quietMs() > 0;
    let announced = isRecent ? await nextPoll(after, signal) : null;
    let chaseUntil = announced === null ? 0 : clock.now() + CHASE_MAX_MS;
    for (;;) {
      if (signal.aborted) throw new RequestAbortedError('eth_blockNumber', signal.reason);
      const answer = await poll(isNew);
      if (answer !== null) {
        newest = { number: answer.value.number, at: clock.now() };
        return answer;
      }
      // Announced, but not yet available over HTTP.
      if (announced !== null && clock.now() < chaseUntil) await pauseFor(clock, CHASE_MS, signal);
      else {
        announced = await nextPoll(after, signal);
        chaseUntil = clock.now() + CHASE_MAX_MS;
      }
    }
  }

  return { getHead, waitForHead, bestNumber };
}

async function gather(
  { probe, clock }: { readonly probe: HeadProbe; readonly clock: Clock },
  requested: readonly Upstream[],
  reasons: Map<string, string>,
): Promise<Answer<Head> | null> {
  let best: Answer<Head> | null = null;
  const graceOver = new AbortController();
  const firstAnswer = Promise.withResolvers<void>();
  const all = requested.map(async (upstream) => {
    try {
      const value = await probe.ask(upstream);
      if (best === null || value.number > best.value.number) best = { value, upstream: upstream.name };
      firstAnswer.resolve();
    } catch (error) {
      reasons.set(upstream.name, errorText(error));
    }
  });
  const everything = Promise.all(all);
  await Promise.race([everything, firstAnswer.promise]);
  if (best !== null) {
    await Promise.race([everything, sleepUnlessAborted(clock, GRACE_MS, graceOver.signal)]);
    graceOver.abort();
  }
  return best;
}

/** After so many polls, or so long, a lower head is accepted. */
const LOWER_POLLS = 3;
const LOWER_MS = 30_000;

function createHeadNewness(options: {
  readonly upstreams: readonly Upstream[];
  readonly probe: HeadProbe;
  readonly clock: Clock;
  readonly after: Head | null;
}): (answer: Answer<Head>) => boolean {
  const { upstreams, probe, clock, after } = options;
  let lowerPolls = 0;
  let lowerSince: number | null = null;

  /** Another hash at that height is then a branch. */
  function isStillHeld(head: Head, except: string): boolean {
    return upstreams.some(
      ({ name, state }) =>
        name !== except && state.disabledReason === null && probe.last(name)?.hash === head.hash,
    );
  }

  return ({ value, upstream }) => {
    if (after === null || value.number > after.number) return true;
    if (value.number === after.number) {
      lowerPolls = 0;
      lowerSince = null;
      return value.hash !== after.hash && !isStillHeld(after, upstream);
    }
    // More often a lagging upstream than a chain that went back.
    lowerPolls++;
    lowerSince ??= clock.now();
    if (isStillHeld(after, upstream)) return false;
    const reached = upstreams.find(({ name }) => name === upstream)?.state.served ?? 0;
    const wentBack = reached >= after.number && lowerPolls >= LOWER_POLLS;
    return wentBack || clock.now() - lowerSince >= LOWER_MS;
  };
}
