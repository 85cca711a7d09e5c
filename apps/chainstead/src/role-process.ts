/** The process of one role, started by the supervisor over an IPC channel: works until told to stop or left alone. */
import cluster from 'node:cluster';
import { createLogger, createMetricsRegistry, measureProcess, systemClock } from '@chainstead/core';
import { z } from 'zod';
import { environmentSource, fileSource, parseConfiguration, ROLE_NAMES } from './configuration/index.ts';
import { describeError } from './describe-error.ts';
import { exitCodeOf } from './exit-code-of.ts';
import { processLabels, slotName } from './role-slot.ts';
import type { StopOptions } from './roles/role.ts';
import { runRole } from './roles/run-role.ts';
import { createMetricsExchange } from './supervisor/metrics-exchange.ts';
import { parseRoleMessage, type RoleMessage } from './supervisor/role-messages.ts';
import { createSharedLimits } from './supervisor/shared-limits.ts';

const count = z.coerce.number().int().min(1).default(1);
const slot = z
  .object({ role: z.enum(ROLE_NAMES), number: count, of: count })
  .parse({ role: process.argv[2], number: process.argv[3], of: process.argv[4] });
const labels = processLabels(slot);
const stopping = Promise.withResolvers<StopOptions>();
// Ctrl-C, and the end of the terminal, reach the whole process group: the supervisor answers to them, and then tells us.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
process.on('SIGTERM', () => stopping.resolve({}));
process.on('disconnect', () => stopping.resolve({}));
// By itself a process of a cluster ends at once when its supervisor is gone; ours answers its requests first.
if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;

const send = (message: RoleMessage): void => {
  // The supervisor may be gone; then `disconnect` stops this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
};
const exchange = createMetricsExchange();
const callLimits = createSharedLimits(send, systemClock);
const metrics = createMetricsRegistry({
  ...labels,
  // Only the API's processes answer scrapes; asking the supervisor brings the metrics of all others.
  ...(slot.role === 'api' ? { otherProcesses: () => exchange.collect([{ send }]) } : {}),
});
measureProcess(metrics);

process.on('message', (value) => {
  const message = parseRoleMessage(value);
  if (message?.type === 'stop') stopping.resolve({ idleGraceMs: message.idleGraceMs });
  else if (message?.type === 'limit-share') callLimits.receive(message);
  else if (message?.type === 'metrics-answer') exchange.receive(message);
  else if (message?.type === 'metrics-request') void answerMetrics(message.id);
});

try {
  await work();
  process.exit(0);
} catch (error) {
  process.stderr.write(`chainstead ${slotName(slot)}: ${describeError(error)}\n`);
  process.exit(exitCodeOf(error));
}

async function work(): Promise<void> {
  const file = process.env.CHAINSTEAD_CONFIG;
  const environment = environmentSource(process.env);
  const { configuration } = parseConfiguration(file === undefined ? [environment] : [environment, fileSource(file)]);
  const running = await runRole(slot, {
    configuration,
    // The supervisor sets it, also where the database is embedded.
    databaseUrl: configuration.database.url ?? '',
    logger: createLogger({ level: configuration.logLevel, ...labels }),
    metrics,
    clock: systemClock,
    callLimits,
  });
  send({ type: 'ready', role: slot.role, address: running.address });
  const how = await stopping.promise;
  await running.stop(how);
}

async function answerMetrics(id: number): Promise<void> {
  send({ type: 'metrics-answer', id, processes: [await metrics.families()] });
}
