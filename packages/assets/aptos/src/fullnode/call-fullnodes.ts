import { type Clock, createAnswerBudget, type Logger } from '@chainstead/core';
import { FullnodeFault, FullnodesExhaustedError, VersionsPrunedError } from './errors.ts';
import { type FullnodeMetrics, type FullnodeState, noteFault } from './fullnode-state.ts';
import { budgetWaitMs, readLedgerHeaders, requireGood } from './ledger-info.ts';

export interface FullnodeCall<T> {
  readonly path: string;
  /** Version that the fullnode must have; null: any. */
  readonly version: number | null;
  readonly signal: AbortSignal;
  /** @throws FullnodeFault if the body is not the requested data */
  read(body: Buffer, fullnode: FullnodeState): T;
}

export interface Caller {
  ask<T>(state: FullnodeState, call: FullnodeCall<T>): Promise<T | FullnodeFault>;
  /** Tries all. @throws FullnodesExhaustedError, VersionsPrunedError, FullnodeFault too-large */
  call<T>(call: FullnodeCall<T>): Promise<T>;
  isUsable(state: FullnodeState, version: number | null): boolean;
  waitForOne(signal: AbortSignal): Promise<void>;
  /** @returns a fault if the fullnode is of another chain */
  checkChain(state: FullnodeState, chainId: number | undefined): FullnodeFault | null;
}

export interface CallerOptions {
  readonly chain: string;
  readonly chainId: number;
  readonly states: readonly FullnodeState[];
  readonly limits: {
    readonly requestsInFlight: number;
    readonly bytesInFlight: number;
    readonly attemptsMax: number;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: FullnodeMetrics;
}

const WAIT_MS = 250;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: what is called, waited for and given up on shares the state of each fullnode.
export function createCaller(options: CallerOptions): Caller {
  const { chain, chainId, states, limits, clock, logger, metrics } = options;
  const inFlight = createAnswerBudget({
    requestsMax: limits.requestsInFlight * states.length,
    bytesMax: limits.bytesInFlight,
  });
  let turn = 0;

  function fail(state: FullnodeState, fault: FullnodeFault, version: number | null): FullnodeFault {
    metrics.requests.inc({ chain, fullnode: state.name, outcome: fault.kind });
    const wasRefused = state.refused !== null;
    noteFault(state, fault, version, clock.now());
    const fields = { chain, fullnode: state.name, kind: fault.kind, reason: fault.message };
    if (fault.kind === 'wrong-chain' && !wasRefused)
      logger.error(fields, 'Fullnode refused: it serves another chain');
    else logger.debug(fields, 'Fullnode call failed');
    return fault;
  }

  function checkChain(state: FullnodeState, reported: number | undefined): FullnodeFault | null {
    if (reported === undefined || reported === chainId) return null;
    const text = `${state.name} serves chain id ${reported}, and ${chain} has ${chainId}`;
    return fail(state, new FullnodeFault('wrong-chain', text), null);
  }

  async function ask<T>(state: FullnodeState, call: FullnodeCall<T>): Promise<T | FullnodeFault> {
    state.inFlight++;
    state.requests++;
    const sent = clock.now();
    try {
      const answer = await state.http.get(call.path, call.signal);
      const ledger = readLedgerHeaders(answer.headers);
      const stranger = checkChain(state, ledger.chainId);
      if (stranger !== null) return stranger;
      if (ledger.head !== undefined) {
        state.head = Math.max(state.head ?? 0, ledger.head);
        state.headAt = clock.now();
      }
      if (ledger.oldest !== undefined) state.oldest = ledger.oldest;
      const wait = budgetWaitMs(answer.headers, clock.now());
      if (wait !== undefined) state.pausedUntil = Math.max(state.pausedUntil, clock.now() + wait);
      const body = requireGood(answer, clock.now());
      inFlight.observe(body.length);
      const value = call.read(body, state);
      metrics.bytes.inc({ chain, fullnode: state.name }, body.length);
      metrics.requests.inc({ chain, fullnode: state.name, outcome: 'ok' });
      metrics.requestDurationSeconds.observe({ chain, fullnode: state.name }, (clock.now() - sent) / 1_000);
      state.failures = 0;
      return value;
    } catch (error) {
      if (!(error instanceof FullnodeFault)) throw error;
      return fail(state, error, call.version);
    } finally {
      state.inFlight--;
    }
  }

  function isUsable(state: FullnodeState, version: number | null): boolean {
    if (state.refused !== null || clock.now() < state.pausedUntil) return false;
    return version === null || (version <= (state.head ?? version) && version >= (state.oldest ?? version));
  }

  function choose(version: number | null, avoid: FullnodeState | null): FullnodeState | null {
    const usable = states.filter((state) => isUsable(state, version));
    const others = usable.filter((state) => state !== avoid);
    const candidates = others.length > 0 ? others : usable;
    const least = Math.min(...candidates.map((state) => state.inFlight));
    const idlest = candidates.filter((state) => state.inFlight === least);
    return idlest[turn++ % Math.max(1, idlest.length)] ?? null;
  }

  async function waitForOne(signal: AbortSignal): Promise<void> {
    const now = clock.now();
    const waits = states.filter(({ refused }) => refused === null).map(({ pausedUntil }) => pausedUntil - now);
    const ends = waits.filter((wait) => wait > 0);
    await clock.sleep(ends.length > 0 ? Math.min(...ends) + 1 : WAIT_MS, signal);
  }

  async function attempt<T>(call: FullnodeCall<T>): Promise<T> {
    let last: FullnodeState | null = null;
    for (let attempts = 0; attempts < limits.attemptsMax; ) {
      call.signal.throwIfAborted();
      requireKept(call.version);
      const state = choose(call.version, last);
      if (state === null) {
        // A paused fullnode is worth waiting for. Others may have caught up by now.
        if (!states.some(isPaused)) attempts++;
        await waitForOne(call.signal);
        for (const each of states) if (each.head !== null && each.head < (call.version ?? 0)) each.head = null;
        continue;
      }
      const value = await ask(state, call);
      if (!(value instanceof FullnodeFault)) return value;
      if (value.kind === 'too-large') throw value;
      if (value.kind !== 'throttled') attempts++;
      last = state;
    }
    throw new FullnodesExhaustedError({ chain, call: call.path, complaints: complaints() });
  }

  const isPaused = (state: FullnodeState): boolean => state.refused === null && clock.now() < state.pausedUntil;
  const complaints = () =>
    states.map(({ name, lastError }) => ({ fullnode: name, complaint: lastError ?? 'no answer' }));

  function requireKept(version: number | null): void {
    const known = states.filter(({ refused }) => refused === null);
    if (version === null || known.length === 0) return;
    const oldest = Math.min(...known.map((state) => state.oldest ?? 0));
    if (version < oldest)
      throw new VersionsPrunedError({ chain, version, oldest, fullnodes: known.map(({ name }) => name) });
  }

  return {
    ask,
    isUsable,
    waitForOne,
    checkChain,
    call: (call) => inFlight.run(() => attempt(call)),
  };
}
