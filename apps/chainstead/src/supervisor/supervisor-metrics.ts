import { Counter, Gauge, type Registry } from '@chainstead/core';
import type { RoleName } from '../configuration/index.ts';

/** What is counted of the processes of roles. */
export interface SupervisorMetrics {
  /** A process was started (1) or ended (−1). */
  running(role: RoleName, change: 1 | -1): void;
  /** A process that ended by itself is started again. */
  restarted(role: RoleName): void;
}

/** @param roles counted from the start, so that a first restart is seen as one */
export function createSupervisorMetrics(registry: Registry, roles: readonly RoleName[]): SupervisorMetrics {
  const registers = [registry];
  const processes = new Gauge({
    name: 'chainstead_role_processes',
    help: 'Processes of the role that run under this `start`',
    labelNames: ['child_role'],
    registers,
  });
  const restarts = new Counter({
    name: 'chainstead_role_restarts_total',
    help: 'Processes of the role that ended unexpectedly and were started again',
    labelNames: ['child_role'],
    registers,
  });
  for (const role of roles) {
    processes.set({ child_role: role }, 0);
    restarts.inc({ child_role: role }, 0);
  }
  return {
    running: (role, change) => processes.inc({ child_role: role }, change),
    restarted: (role) => restarts.inc({ child_role: role }),
  };
}
