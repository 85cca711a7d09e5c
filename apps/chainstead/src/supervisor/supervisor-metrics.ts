import { Counter, Gauge, type Registry } from '@chainstead/core';
import type { RoleName } from '../configuration/index.ts';

export interface SupervisorMetrics {
  running(role: RoleName, change: 1 | -1): void;
  restarted(role: RoleName): void;
}

/** @param roles whose counters start at 0, so that the first restart is visible */
export function createSupervisorMetrics(registry: Registry, roles: readonly RoleName[]): SupervisorMetrics {
  const registers = [registry];
  const processes = new Gauge({
    name: 'chainstead_role_processes',
    help: 'Number of running processes of the role under this `chainstead start`',
    labelNames: ['child_role'],
    registers,
  });
  const restarts = new Counter({
    name: 'chainstead_role_restarts_total',
    help: 'Number of restarts of the role after its process ended unexpectedly',
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
