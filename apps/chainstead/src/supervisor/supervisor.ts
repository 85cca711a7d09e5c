import {
  ChainsteadError,
  type Clock,
  type Logger,
  restartDelayMs,
  sleepUnlessAborted,
  WELL_AFTER_MS,
} from '@chainstead/core';
import type { RoleName } from '../configuration/index.ts';
import type { RoleExit, RoleProcessHandle, RoleReady } from './role-process-handle.ts';

/** Exit code of a role whose configuration can't work: starting it again would not help. */
export const EXIT_CODE_CONFIGURATION = 2;

export interface SupervisorOptions {
  readonly roles: readonly RoleName[];
  launch(role: RoleName): RoleProcessHandle;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds from the request to stop until what still runs is killed. */
  readonly stopTimeoutMs: number;
  /** Told at the stop, and with each end after it, which roles are still finishing their work; not when none is left. */
  onFinishing?(roles: readonly RoleName[]): void;
}

/** Keeps one process of each role running: a crash is followed by a restart, later each time. */
export interface Supervisor {
  /** Resolves when every role has worked once. @throws RoleFailedError */
  readonly ready: Promise<readonly RoleReady[]>;
  /** Resolves after `stop`, when every process has ended. @throws RoleFailedError when a role can't work at all. */
  readonly finished: Promise<void>;
  /** Asks all to end, and kills what has not ended within the time. */
  stop(): void;
}

/** A role ended in a way that a restart can't mend. */
export class RoleFailedError extends ChainsteadError {
  constructor(role: RoleName, exit: RoleExit) {
    super({
      code: 'ROLE_FAILED',
      message: `The ${role} process can't work with this configuration (its own message is above)`,
      facts: { role, exit_code: exit.code, signal: exit.signal },
      retryable: false,
    });
  }
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { clock, logger } = options;
  const stopping = new AbortController();
  const running = new Map<RoleProcessHandle, RoleName>();
  const firstReady = new Map(options.roles.map((role) => [role, Promise.withResolvers<RoleReady>()]));

  async function keepRunning(role: RoleName): Promise<void> {
    let crashesInARow = 0;
    while (!stopping.signal.aborted) {
      const startedAt = clock.now();
      const exit = await runOnce(role);
      if (stopping.signal.aborted) return;
      if (exit.code === EXIT_CODE_CONFIGURATION) throw new RoleFailedError(role, exit);
      crashesInARow = clock.now() - startedAt >= WELL_AFTER_MS ? 1 : crashesInARow + 1;
      const delayMs = restartDelayMs(crashesInARow);
      logger.error(
        {
          child_role: role,
          exit_code: exit.code,
          signal: exit.signal,
          crashes_in_a_row: crashesInARow,
          delay_ms: delayMs,
        },
        'Role process ended unexpectedly, starting it again',
      );
      await sleepUnlessAborted(clock, delayMs, stopping.signal);
    }
  }

  async function runOnce(role: RoleName): Promise<RoleExit> {
    const handle = options.launch(role);
    running.set(handle, role);
    void handle.ready.then((facts) => firstReady.get(role)?.resolve(facts));
    try {
      return await handle.exited;
    } finally {
      running.delete(handle);
      if (stopping.signal.aborted) tellFinishing();
    }
  }

  function tellFinishing(): void {
    if (running.size > 0) options.onFinishing?.([...running.values()]);
  }

  async function killLeftovers(): Promise<void> {
    tellFinishing();
    for (const handle of running.keys()) handle.stop();
    const allEnded = new AbortController();
    void Promise.all([...running.keys()].map((handle) => handle.exited)).then(() => allEnded.abort());
    await sleepUnlessAborted(clock, options.stopTimeoutMs, allEnded.signal);
    if (allEnded.signal.aborted) return;
    for (const [handle, role] of running) {
      logger.warn(
        { child_role: role, pid: handle.pid, stop_timeout_ms: options.stopTimeoutMs },
        'Role process did not stop in time, killing it',
      );
      handle.kill();
    }
  }

  function stop(): void {
    if (stopping.signal.aborted) return;
    stopping.abort();
    void killLeftovers();
  }

  async function runAll(): Promise<void> {
    const roles = options.roles.map((role) => keepRunning(role));
    try {
      await Promise.all(roles);
    } catch (error) {
      for (const waiting of firstReady.values()) waiting.reject(error);
      stop();
      await Promise.allSettled(roles);
      throw error;
    }
  }

  const ready = Promise.all([...firstReady.values()].map((waiting) => waiting.promise));
  const finished = runAll();
  // Callers may await only one of the two; the other must not count as an unhandled rejection.
  for (const promise of [ready, finished]) promise.catch((error) => logger.debug({ err: error }, 'Supervision ended'));
  return { ready, finished, stop };
}
