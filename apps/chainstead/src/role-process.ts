/** Process of one role under the supervisor, until it is stopped or the channel closes. */
import cluster from 'node:cluster';
import { createLogger, createMetricsRegistry, measureProcess, systemClock } from '@chainstead/core';
import { z } from 'zod';
import { environmentSource, fileSource, parseConfiguration, ROLE_NAMES } from './configuration/index.ts';
import { describeError, exitCodeOf } from './errors/describe-error.ts';
import { releaseStartMemory } from './release-start-memory.ts';
import type { StopOptions } from './roles/role.ts';
import { runRole } from './roles/run-role.ts';
import { processLabels, slotName } from './shares/role-slot.ts';
import { createMetricsExchange, parseRoleMessage, type RoleMessage } from './supervisor/metrics-exchange.ts';
import { createSharedLimits } from './supervisor/shared-limits.ts';

const count = z.coerce.number().int().min(1).default(1);
const slot = z
  .object({ role: z.enum(ROLE_NAMES), number: count, of: count })
  .parse({ role: process.argv[2], number: process.argv[3], of: process.argv[4] });
const labels = processLabels(slot);
const stopping = Promise.withResolvers<StopOptions>();
// Ctrl-C reaches the whole process group; the supervisor stops this process.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
process.on('SIGTERM', () => stopping.resolve({}));
process.on('disconnect', () => stopping.resolve({}));
// By default, it would end with its supervisor, without finishing its requests.
if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;

const send = (message: RoleMessage): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
};
const exchange = createMetricsExchange();
const callLimits = createSharedLimits(send, systemClock);
const metrics = createMetricsRegistry({
  ...labels,
  ...(slot.role === 'api' ? { otherProcesses: () => exchange.collect([{ send }]) } : {}),
});
measureProcess(metrics);

process.on('message', (value) => {
  const message = parseRoleMessage(value);
  if (message?.type === 'stop') stopping.resolve({ idleGraceMs: message.idleGraceMs });
  else if (message?.type === 'limit-share') callLimits.receive(message);
  else if (message?.type === 'metrics-answer') exchange.receive(message);
  else if (message?.type === 'metrics-request')
    void metrics.families().then((own) => send({ type: 'metrics-answer', id: message.id, processes: [own] }));
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
  const { configuration } = parseConfiguration(
    file === undefined || file === '' ? [environment] : [environment, fileSource(file)],
  );
  const running = await runRole(slot, {
    configuration,
    databaseUrl: configuration.database.url ?? '',
    logger: createLogger({ level: configuration.logLevel, ...labels }),
    metrics,
    clock: systemClock,
    callLimits,
  });
  send({ type: 'ready', role: slot.role, address: running.address });
  releaseStartMemory();
  const how = await stopping.promise;
  await running.stop(how);
}
