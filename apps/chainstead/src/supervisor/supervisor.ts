import {
  type Clock,
  counter,
  defineError,
  defineMetrics,
  gauge,
  type Logger,
  restartDelayMs,
  sleepUnlessAborted,
  WELL_AFTER_MS,
} from '@chainstead/core';
import type { RoleName } from '../configuration/index.ts';
import type { StopOptions } from '../roles/role.ts';
import { type RoleSlot, slotName } from '../shares/role-slot.ts';

/** A restart would not help. */
const EXIT_CODE_CONFIGURATION = 2;
/** Rarer clients may find a connection closed by a replaced process. */
const IDLE_GRACE_MS = 3_000;

interface SupervisorOptions {
  readonly slots: readonly RoleSlot[];
  launch(slot: RoleSlot): RoleProcessHandle;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: SupervisorMetrics;
  /** From the request to stop until the kill. */
  readonly stopTimeoutMs: number;
  /** At the stop and after each exit, with the roles still at work, if any. */
  onFinishing?(roles: readonly RoleName[]): void;
}

interface Supervisor {
  /** Every slot has been ready once. @throws RoleFailedError */
  readonly ready: Promise<readonly RoleReady[]>;
  /** Every process has ended after `stop`. @throws RoleFailedError if a role can't work at all */
  readonly finished: Promise<void>;
  /** Old processes stop once the new one is ready. If that ends before, the old one continues. */
  replace(role: RoleName): Promise<void>;
  stop(): void;
}

export class RoleFailedError extends defineError('ROLE_FAILED', (role: RoleName, exit: RoleExit) => ({
  message: `The ${role} process can't run with this configuration (see its message above)`,
  facts: { role, exit_code: exit.code, signal: exit.signal },
})) {}

interface Run {
  readonly handle: RoleProcessHandle;
  readonly startedAt: number;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: restarts, replacements and the stop share the processes that run.
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { clock, logger, metrics } = options;
  // The first restart is visible if counters start at 0.
  for (const { role } of options.slots) {
    metrics.processes.set({ child_role: role }, 0);
    metrics.restarts.inc({ child_role: role }, 0);
  }
  const stopping = new AbortController();
  const running = new Map<RoleProcessHandle, RoleSlot>();
  const firstReady = new Map(options.slots.map((slot) => [slot, Promise.withResolvers<RoleReady>()]));
  const replacements = new Map<RoleSlot, Run>();
  const replacing = new Map<RoleName, { isRequestedAgain: boolean }>();

  async function keepRunning(slot: RoleSlot): Promise<void> {
    let crashesInARow = 0;
    while (!stopping.signal.aborted) {
      const { exit, startedAt } = await runOnce(slot);
      if (stopping.signal.aborted) return;
      if (exit.code === EXIT_CODE_CONFIGURATION) throw new RoleFailedError(slot.role, exit);
      crashesInARow = clock.now() - startedAt >= WELL_AFTER_MS ? 1 : crashesInARow + 1;
      const delayMs = restartDelayMs(crashesInARow);
      const fields = {
        exit_code: exit.code,
        signal: exit.signal,
        crashes_in_a_row: crashesInARow,
        delay_ms: delayMs,
      };
      logger.error({ ...namesOf(slot), ...fields }, 'Role process ended unexpectedly, restarting it');
      await sleepUnlessAborted(clock, delayMs, stopping.signal);
      if (!stopping.signal.aborted) metrics.restarts.inc({ child_role: slot.role });
    }
  }

  async function runOnce(slot: RoleSlot): Promise<{ readonly exit: RoleExit; readonly startedAt: number }> {
    let run = begin(slot);
    for (;;) {
      const exit = await run.handle.exited;
      const next = replacements.get(slot);
      if (next === undefined) return { exit, startedAt: run.startedAt };
      replacements.delete(slot);
      run = next;
    }
  }

  function begin(slot: RoleSlot): Run {
    const handle = options.launch(slot);
    running.set(handle, slot);
    metrics.processes.inc({ child_role: slot.role });
    void handle.ready.then((facts) => firstReady.get(slot)?.resolve(facts));
    void handle.exited.then(() => {
      running.delete(handle);
      metrics.processes.dec({ child_role: slot.role });
      if (stopping.signal.aborted) reportFinishing();
    });
    return { handle, startedAt: clock.now() };
  }

  async function replace(role: RoleName): Promise<void> {
    const current = replacing.get(role);
    if (current !== undefined) {
      current.isRequestedAgain = true;
      return;
    }
    const state = { isRequestedAgain: true };
    replacing.set(role, state);
    try {
      while (state.isRequestedAgain && !stopping.signal.aborted) {
        state.isRequestedAgain = false;
        await replaceAll(role);
      }
    } finally {
      replacing.delete(role);
    }
  }

  async function replaceAll(role: RoleName): Promise<void> {
    for (const slot of options.slots.filter((one) => one.role === role)) {
      if (stopping.signal.aborted) return;
      const old = [...running].find(([, held]) => held === slot)?.[0];
      if (old !== undefined && !(await replaceOne(slot, old))) {
        logger.error(namesOf(slot), 'Replacement process ended before it was ready, the old process continues');
        return;
      }
    }
    logger.info({ child_role: role }, 'All processes of the role replaced');
  }

  async function replaceOne(slot: RoleSlot, old: RoleProcessHandle): Promise<boolean> {
    const fresh = begin(slot);
    replacements.set(slot, fresh);
    const isReady = await Promise.race([
      fresh.handle.ready.then(() => true),
      fresh.handle.exited.then(() => false),
    ]);
    if (!isReady) {
      if (replacements.get(slot) === fresh) replacements.delete(slot);
      return stopping.signal.aborted;
    }
    old.stop({ idleGraceMs: IDLE_GRACE_MS });
    await killUnlessEnded([old]);
    await old.exited;
    logger.info({ ...namesOf(slot), pid: fresh.handle.pid, old_pid: old.pid }, 'Role process replaced');
    return true;
  }

  function reportFinishing(): void {
    if (running.size > 0) options.onFinishing?.([...new Set([...running.values()].map(({ role }) => role))]);
  }

  async function killUnlessEnded(handles: readonly RoleProcessHandle[]): Promise<void> {
    const allEnded = new AbortController();
    void Promise.all(handles.map(({ exited }) => exited)).then(() => allEnded.abort());
    await sleepUnlessAborted(clock, options.stopTimeoutMs, allEnded.signal);
    if (allEnded.signal.aborted) return;
    for (const handle of handles) {
      const slot = running.get(handle);
      if (slot === undefined) continue;
      logger.warn(
        { ...namesOf(slot), pid: handle.pid, stop_timeout_ms: options.stopTimeoutMs },
        'Role process did not stop in time, killing it',
      );
      handle.kill();
    }
  }

  function stop(): void {
    if (stopping.signal.aborted) return;
    stopping.abort();
    reportFinishing();
    const handles = [...running.keys()];
    for (const handle of handles) handle.stop();
    void killUnlessEnded(handles);
  }

  async function runAll(): Promise<void> {
    const slots = options.slots.map((slot) => keepRunning(slot));
    try {
      await Promise.all(slots);
    } catch (error) {
      for (const waiting of firstReady.values()) waiting.reject(error);
      stop();
      await Promise.allSettled(slots);
      throw error;
    }
  }

  const ready = Promise.all([...firstReady.values()].map((waiting) => waiting.promise));
  const finished = runAll();
  // Callers may await only one of the two.
  for (const promise of [ready, finished])
    promise.catch((error) => logger.debug({ err: error }, 'Supervision ended'));
  return { ready, finished, replace, stop };
}

function namesOf(slot: RoleSlot): Readonly<Record<string, string>> {
  return { child_role: slot.role, ...(slot.of > 1 && { child_process: slotName(slot) }) };
}

type SupervisorMetrics = ReturnType<typeof createSupervisorMetrics>;

export const createSupervisorMetrics = defineMetrics('chainstead_role', {
  processes: gauge('Number of running processes of the role under this `chainstead start`', ['child_role']),
  restarts: counter('Number of restarts of the role after its process ended unexpectedly', ['child_role']),
});

export interface RoleExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface RoleReady {
  readonly role: RoleName;
  /** Null for roles without one. */
  readonly address: string | null;
}

export interface RoleProcessHandle {
  readonly pid: number;
  /** Never resolves if the role ends before. */
  readonly ready: Promise<RoleReady>;
  readonly exited: Promise<RoleExit>;
  stop(options?: StopOptions): void;
  kill(): void;
}
