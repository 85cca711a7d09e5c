import { counter, defineMetrics, gauge } from '@chainstead/core';

export type SupervisorMetrics = ReturnType<typeof createSupervisorMetrics>;

export const createSupervisorMetrics = defineMetrics('chainstead_role', {
  processes: gauge('Number of running processes of the role under this `chainstead start`', ['child_role']),
  restarts: counter('Number of restarts of the role after its process ended unexpectedly', ['child_role']),
});
