/** Calls per second that a node accepts: a burst until its first refusal, then steps of a steady rate, or whole windows of a limit. */
import type { Chain } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { type Clock, type Finding, findingsOf } from '@chainstead/core';
import { type NodeProbe, sleepInCheck } from './node-probe.ts';

export interface RateTrial {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The burst has no more. */
  readonly callsMax: number;
  /** By the clock: no step begins that would end later. */
  readonly until: number;
  /** False: refused because of the rate. */
  send(): Promise<boolean>;
}

export interface RateMeasurement {
  /** Null: no call was refused. */
  readonly perSecond: number | null;
  readonly calls: number;
  readonly tookMs: number;
}

const rateLimit = findingsOf('rate limit');

/** A window of ten seconds, or a bucket of several, holds hundreds. */
const BURST_CALLS = 600;
const BURST_IN_FLIGHT = 24;
/** Slow nodes reach no limit. */
const BURST_MS = 3_000;
/** A configured rate is not exceeded: more calls would only wait for it. */
const CONFIGURED_SECONDS = 1.5;
/** Whole seconds, as most providers count. */
const STEP_SECONDS = 3;
const STEPS_MAX = 8;
/** Longer than a limit by the second refuses: the window of this limit is longer. */
const SILENT_MS = 1_200;
const SILENT_GAPS = 3;
const RECOVERY_POLL_MS = 250;
/** A step above the estimate that is refused nothing was too slow. */
const ABOVE = 1.3;
const GROWTH = 1.6;
const RATE_MIN = 0.5;
const TIME_SHARE = 1 / 3;
/** Below the measured limit, as processes and other programs share it. */
const ADVISED_SHARE = 0.95;
const PACE_SHARE = 0.9;

/** Sets the pace of all later calls. @returns the finding; null if none was refused */
export async function checkRate(
  chain: Chain,
  probe: NodeProbe,
  { clock, signal, deadlineMs }: Pick<RateTrial, 'clock' | 'signal'> & { readonly deadlineMs: number },
): Promise<Finding | null> {
  const { requestsPerSecond } = probe.config;
  const callsMax = Math.ceil(Math.min(BURST_CALLS, (requestsPerSecond ?? BURST_CALLS) * CONFIGURED_SECONDS));
  const measured = await measureRate({
    ...{ clock, signal, callsMax, until: clock.now() + deadlineMs * TIME_SHARE },
    send: async () => {
      const answer = await probe.tryOnce('eth_blockNumber', []);
      return answer.ok || answer.reaction !== 'throttled';
    },
  });
  if (measured.perSecond === null) return null;
  probe.paceAt(measured.perSecond * PACE_SHARE);
  return rateLimitFinding(chain, measured.perSecond);
}

export function rateLimitFinding(chain: Chain, perSecond: number): Finding {
  return rateLimit.warning(
    `it refuses calls above about ${rateText(perSecond)} per second`,
    'Chainstead finds the rate by refused calls after each start, and the head comes before historical blocks.',
    `Set RPC_RATE_${environmentSuffix(chain)}=${rateText(perSecond * ADVISED_SHARE)}, or the rate of your plan.`,
  );
}

function rateText(perSecond: number): string {
  return perSecond < 2 ? Math.max(0.1, perSecond).toFixed(1) : String(Math.round(perSecond));
}

/** Limits by bucket, by second or by a longer window. @throws RequestAbortedError */
export async function measureRate(trial: RateTrial): Promise<RateMeasurement> {
  const burst = await sendBurst(trial);
  if (!burst.isRefused) return { perSecond: null, calls: burst.accepted, tookMs: burst.tookMs };
  // A full bucket holds about a second's calls.
  const estimate = Math.max(RATE_MIN, burst.accepted / (1 + burst.tookMs / 1_000));
  let perSecond = estimate;
  let asked = estimate * ABOVE;
  for (let step = 0; step < STEPS_MAX && hasTime(trial); step++) {
    const { accepted, refused, isSilent } = await sendStep(trial, asked);
    if (isSilent) {
      perSecond = await measureWindow(trial, burst);
      break;
    }
    perSecond = accepted / STEP_SECONDS;
    if (refused > 0) break;
    asked *= GROWTH;
  }
  return { perSecond, calls: burst.accepted, tookMs: burst.tookMs };
}

/** All calls of one window, over the time to the next. Without a recovery in time, at most the calls of the burst until now. */
async function measureWindow(trial: RateTrial, first: { accepted: number; startedAt: number }): Promise<number> {
  const { clock } = trial;
  const since = (startedAt: number): number => (clock.now() - startedAt) / 1_000;
  if (!(await hasRecovered(trial))) return first.accepted / since(first.startedAt);
  const startedAt = clock.now();
  const { accepted, isRefused } = await sendBurst(trial);
  if (isRefused) await hasRecovered(trial);
  return (accepted + 1) / since(startedAt);
}

/** Waits for an accepted call. False: no time is left. */
async function hasRecovered(trial: RateTrial): Promise<boolean> {
  const { clock, signal, until, send } = trial;
  while (clock.now() < until) {
    if (await send()) return true;
    await sleepInCheck(clock, RECOVERY_POLL_MS, signal);
  }
  return false;
}

function hasTime({ clock, until }: RateTrial): boolean {
  return clock.now() + (STEP_SECONDS + 1) * 1_000 <= until;
}

async function sendBurst({ clock, callsMax, send }: RateTrial) {
  const startedAt = clock.now();
  let [sent, accepted, isRefused] = [0, 0, false];
  const sendOn = async (): Promise<void> => {
    while (sent < callsMax && !isRefused && clock.now() < startedAt + BURST_MS) {
      sent += 1;
      if (await send()) accepted += 1;
      else isRefused = true;
    }
  };
  await Promise.all(Array.from({ length: BURST_IN_FLIGHT }, sendOn));
  return { accepted, isRefused, startedAt, tookMs: clock.now() - startedAt };
}

/** Counts from the first accepted call on: a second that a burst has used up accepts none. */
async function sendStep({ clock, signal, send }: RateTrial, perSecond: number) {
  const gapMs = 1_000 / perSecond;
  const lastsMs = STEP_SECONDS * 1_000;
  const startedAt = clock.now();
  const answers: Promise<{ readonly at: number; readonly isAccepted: boolean }>[] = [];
  let firstAt: number | null = null;
  let lastAt = startedAt;
  // Only refused calls count: slow responses are no silence.
  let isSilent = false;
  for (let at = startedAt; !isSilent && at < (firstAt ?? startedAt) + lastsMs; ) {
    const sentAt = clock.now();
    const answer = send().then((isAccepted) => {
      if (isAccepted) {
        firstAt ??= sentAt;
        lastAt = sentAt;
      } else isSilent = sentAt - lastAt > Math.max(SILENT_MS, SILENT_GAPS * gapMs);
      return { at: sentAt, isAccepted };
    });
    // Awaited together: a failure before must not become an unhandled rejection.
    answer.catch(() => undefined);
    answers.push(answer);
    await sleepInCheck(clock, Math.max(0, sentAt + gapMs - clock.now()), signal);
    // Not faster after a stall.
    at = Math.max(at + gapMs, clock.now());
  }
  const counted = (await Promise.all(answers)).filter(
    ({ at }) => firstAt !== null && at >= firstAt && at < firstAt + lastsMs,
  );
  const accepted = counted.filter(({ isAccepted }) => isAccepted).length;
  return { accepted, refused: counted.length - accepted, isSilent };
}
