import type { Clock } from '@chainstead/core';
import type { HeadProbe } from './probe-head.ts';
import type { Upstream } from './upstream.ts';
import type { Answer, Head } from './upstream-pool.ts';

/** Polls in a row, and milliseconds, after which a head below the known one is believed. */
const LOWER_POLLS = 3;
const LOWER_MS = 30_000;

/** Whether a head that an upstream gives comes after the one known, for one waiting: it counts the polls that gave a lower one. */
export function createHeadNewness(options: {
  readonly upstreams: readonly Upstream[];
  readonly probe: HeadProbe;
  readonly clock: Clock;
  /** The one known; null before the first. */
  readonly after: Head | null;
}): (answer: Answer<Head>) => boolean {
  const { upstreams, probe, clock, after } = options;
  let lowerPolls = 0;
  let lowerSince: number | null = null;

  /** Whether any upstream still has `head` as its newest: then another hash of that height is one branch of two. */
  function isStillHeld(head: Head, except: string): boolean {
    return upstreams.some(
      ({ name, state }) => name !== except && state.disabledReason === null && probe.last(name)?.hash === head.hash,
    );
  }

  return ({ value, upstream }) => {
    if (after === null || value.number > after.number) return true;
    if (value.number === after.number) {
      lowerPolls = 0;
      lowerSince = null;
      return value.hash !== after.hash && !isStillHeld(after, upstream);
    }
    // Below the known head: a lagging upstream, more often than a chain that went back.
    lowerPolls++;
    lowerSince ??= clock.now();
    if (isStillHeld(after, upstream)) return false;
    const reached = upstreams.find(({ name }) => name === upstream)?.state.served ?? 0;
    const wentBack = reached >= after.number && lowerPolls >= LOWER_POLLS;
    return wentBack || clock.now() - lowerSince >= LOWER_MS;
  };
}
