/** Calls that a node accepts: concurrently, and per second by a burst until its first refusal, then by steps of a steady rate or by windows. */
import type { Chain } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { type Clock, type Finding, findingsOf } from '@chainstead/core';
import { pauseFor } from '../aborting.ts';
import type { NodeProbe } from './node-probe.ts';

export interface RateTrial {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The burst has no more. */
  readonly callsMax: number;
  /** By the clock: no step begins that would end later. */
  readonly until: number;
  /** False: refused because of the rate. */
  send(): Promise<boolean>;
  /** Requested by the last refusal. @default 0 */
  retryAfterMs?(): number;
}

export interface RateMeasurement {
  /** Null: no call was refused. */
  readonly perSecond: number | null;
  /** Null: as many as the program sends. */
  readonly concurrent: number | null;
  readonly calls: number;
  readonly tookMs: number;
}

const rateLimit = findingsOf('rate limit');

/** A minute, or a bucket of several seconds, holds hundreds. */
const BURST_CALLS = 1_300;
const BURST_IN_FLIGHT = 24;
/** Slow nodes reach no limit. */
const BURST_MS = 5_000;
/** Waves of as many calls as the first accepted. A limit by the second refuses most of the next one. */
const WAVES_MS = 1_500;
const WAVES_MAX = 40;
/** More calls a second than a bucket of one wave accepts. */
const WAVES_ABOVE = 1.5;
/** A configured rate is not exceeded: more calls would only wait for it. */
const CONFIGURED_SECONDS = 1.5;
/** Whole seconds, as most providers count. */
const STEP_SECONDS = 3;
const STEPS_MAX = 8;
/** Longer than a limit by the second refuses: the window of this limit is longer. */
const SILENT_MS = 1_200;
const SILENT_GAPS = 3;
const RECOVERY_POLL_MS = 250;
/** Providers count by the second, by ten seconds, or by the minute. */
const LONG_WINDOW_SECONDS = 12;
const MINUTE_SECONDS = 60;
/** A step above the estimate that is refused nothing was too slow. */
const ABOVE = 1.3;
const GROWTH = 1.6;
/** A minute's calls within a second are no rate. */
const FIRST_STEP_MAX = 400;
const RATE_MIN = 0.5;
/** 72 of 120 seconds: a minute's window is over. */
const TIME_SHARE = 0.6;
/** Below the measured limit, as processes and other programs share it. */
const ADVISED_SHARE = 0.95;
const PACE_SHARE = 0.9;

/** A whole block takes both. Providers that count compute units charge them differently. */
const METHODS = [
  ['eth_getBlockByNumber', ['0x1', false]],
  ['eth_getBlockReceipts', ['0x1']],
] as const;

/** Sets the pace of all later calls. @returns findings for refused calls */
export async function checkRate(
  chain: Chain,
  probe: NodeProbe,
  { clock, signal, deadlineMs }: Pick<RateTrial, 'clock' | 'signal'> & { readonly deadlineMs: number },
): Promise<readonly Finding[]> {
  const { requestsPerSecond } = probe.config;
  const callsMax = Math.ceil(Math.min(BURST_CALLS, (requestsPerSecond ?? BURST_CALLS) * CONFIGURED_SECONDS));
  let [sent, retryAfterMs] = [0, 0];
  const { perSecond, concurrent } = await measureRate({
    ...{ clock, signal, callsMax, until: clock.now() + deadlineMs * TIME_SHARE },
    send: async () => {
      const [method, params] = METHODS[sent++ % 2 === 0 ? 0 : 1];
      const answer = await probe.tryOnce(method, params);
      if (answer.ok || answer.reaction !== 'throttled') return true;
      retryAfterMs = answer.retryAfterMs ?? 0;
      return false;
    },
    retryAfterMs: () => retryAfterMs,
  });
  if (perSecond !== null) probe.paceAt(perSecond * PACE_SHARE);
  return [
    ...(concurrent === null
      ? []
      : [
          rateLimit.warning(
            `it refuses more than ${concurrent} concurrent calls`,
            'Refused calls are repeated, which takes longer than waiting for a free place.',
            `Set RPC_CONCURRENCY_${environmentSuffix(chain)}=${concurrent}.`,
          ),
        ]),
    ...(perSecond === null ? [] : [rateLimitFinding(chain, perSecond)]),
  ];
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

/** Limits by concurrent calls, by bucket, by second or by a longer window. @throws RequestAbortedError */
export async function measureRate(given: RateTrial): Promise<RateMeasurement> {
  const startedAt = given.clock.now();
  let accepted = 0;
  const send = async (): Promise<boolean> => {
    const isAccepted = await given.send();
    if (isAccepted) accepted += 1;
    return isAccepted;
  };
  const trial = { ...given, send };
  const wave = await sendWave(trial, Math.min(BURST_IN_FLIGHT, trial.callsMax));
  const concurrent = wave.isRefused ? await measureConcurrency(trial) : null;
  const before = wave.isRefused ? { accepted: 0, tookMs: 0 } : wave;
  const burst = await sendBurst(trial, concurrent ?? BURST_IN_FLIGHT);
  const measured = { concurrent, calls: accepted, tookMs: before.tookMs + burst.tookMs };
  if (!burst.isRefused) return { ...measured, perSecond: null };
  // The first wave has used up more than a second.
  if (wave.isRefused && burst.accepted === 0)
    return { ...measured, perSecond: await measureWindow(trial, { accepted, startedAt }) };
  // A full bucket holds about a second's calls.
  const estimate = Math.max(RATE_MIN, (before.accepted + burst.accepted) / (1 + measured.tookMs / 1_000));
  let perSecond = estimate;
  let asked = Math.min(FIRST_STEP_MAX, estimate * ABOVE);
  for (let step = 0; step < STEPS_MAX && hasTime(trial); step++) {
    const { accepted: inStep, refused, isSilent } = await sendStep(trial, asked);
    if (isSilent) {
      perSecond = await measureWindow(trial, { accepted, startedAt });
      break;
    }
    perSecond = inStep / STEP_SECONDS;
    if (refused > 0) break;
    asked *= GROWTH;
  }
  return { ...measured, perSecond };
}

async function sendWave({ clock, send }: RateTrial, calls: number) {
  const startedAt = clock.now();
  const answers = await Promise.all(Array.from({ length: calls }, send));
  const accepted = answers.filter((isAccepted) => isAccepted).length;
  return { accepted, isRefused: accepted < calls, tookMs: clock.now() - startedAt };
}

/** Null: another limit refused calls of the first wave. What it counts by the second has passed then. */
async function measureConcurrency(trial: RateTrial): Promise<number | null> {
  const { clock, signal } = trial;
  await pauseFor(clock, SILENT_MS, signal);
  // Calls of the first wave opened connections, one after the other.
  const { accepted: calls } = await sendWave(trial, Math.min(BURST_IN_FLIGHT, trial.callsMax));
  const startedAt = clock.now();
  let accepted = 0;
  let isRefused = calls === 0;
  for (let waves = 0; !isRefused && waves < WAVES_MAX && clock.now() < startedAt + WAVES_MS; waves++) {
    const wave = await sendWave(trial, calls);
    accepted += wave.accepted;
    isRefused = wave.isRefused;
  }
  const isRate = isRefused || accepted <= (WAVES_ABOVE * calls * (clock.now() - startedAt)) / 1_000;
  if (isRate) await pauseFor(clock, SILENT_MS, signal);
  return isRate ? null : calls;
}

/** All calls of one window, over the time to the next. Without a recovery within ten seconds, a minute's. */
async function measureWindow(trial: RateTrial, first: { accepted: number; startedAt: number }): Promise<number> {
  const { clock } = trial;
  const since = (startedAt: number): number => (clock.now() - startedAt) / 1_000;
  const hasRecoveredOnce = await hasRecovered(trial);
  const seconds = since(first.startedAt);
  if (!hasRecoveredOnce || seconds > LONG_WINDOW_SECONDS)
    return first.accepted / Math.max(MINUTE_SECONDS, seconds);
  const startedAt = clock.now();
  const { accepted, isRefused } = await sendBurst(trial, BURST_IN_FLIGHT);
  if (isRefused) await hasRecovered(trial);
  const passed = since(startedAt);
  return (accepted + 1) / (passed > LONG_WINDOW_SECONDS ? Math.max(MINUTE_SECONDS, passed) : passed);
}

/** Waits for an accepted call. False: no time is left. */
async function hasRecovered({ clock, signal, until, send, retryAfterMs }: RateTrial): Promise<boolean> {
  while (clock.now() < until) {
    if (await send()) return true;
    // Calls before that may prolong the refusal.
    const waitMs = Math.max(RECOVERY_POLL_MS, retryAfterMs?.() ?? 0);
    await pauseFor(clock, Math.min(waitMs, Math.max(RECOVERY_POLL_MS, until - clock.now())), signal);
  }
  return false;
}

function hasTime({ clock, until }: RateTrial): boolean {
  return clock.now() + (STEP_SECONDS + 1) * 1_000 <= until;
}

async function sendBurst({ clock, callsMax, send }: RateTrial, inFlight: number) {
  const startedAt = clock.now();
  let [sent, accepted, isRefused] = [0, 0, false];
  const sendOn = async (): Promise<void> => {
    while (sent < callsMax && !isRefused && clock.now() < startedAt + BURST_MS) {
      sent += 1;
      if (await send()) accepted += 1;
      else isRefused = true;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, sendOn));
  return { accepted, isRefused, tookMs: clock.now() - startedAt };
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
    await pauseFor(clock, Math.max(0, sentAt + gapMs - clock.now()), signal);
    // Not faster after a stall.
    at = Math.max(at + gapMs, clock.now());
  }
  const counted = (await Promise.all(answers)).filter(
    ({ at }) => firstAt !== null && at >= firstAt && at < firstAt + lastsMs,
  );
  const accepted = counted.filter(({ isAccepted }) => isAccepted).length;
  return { accepted, refused: counted.length - accepted, isSilent };
}
