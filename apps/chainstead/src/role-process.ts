/** The process of one role, started by the supervisor over an IPC channel: works until told to stop or left alone. */
import { createLogger, createMetricsRegistry, measureProcess, systemClock } from '@chainstead/core';
import { z } from 'zod';
import { environmentSource, fileSource, parseConfiguration, ROLE_NAMES } from './configuration/index.ts';
import { describeError } from './describe-error.ts';
import { exitCodeOf } from './exit-code-of.ts';
import { runRole } from './roles/run-role.ts';
import { createMetricsExchange } from './supervisor/metrics-exchange.ts';
import { parseRoleMessage, type RoleMessage } from './supervisor/role-messages.ts';
import { createSupervisedTurns } from './supervisor/supervised-turns.ts';

const role = z.enum(ROLE_NAMES).parse(process.argv[2]);
const stopping = Promise.withResolvers<void>();
// Ctrl-C reaches the whole process group: the supervisor answers to it, and then tells us.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => stopping.resolve());
process.on('disconnect', () => stopping.resolve());

const send = (message: RoleMessage): void => {
  // The supervisor may be gone; then `disconnect` stops this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
};
const exchange = createMetricsExchange();
const turns = createSupervisedTurns(send, systemClock);
const metrics = createMetricsRegistry({
  role,
  // Only the API's process answers scrapes; asking the supervisor brings the metrics of all others.
  ...(role === 'api' ? { otherProcesses: () => exchange.collect([{ send }]) } : {}),
});
measureProcess(metrics);

process.on('message', (value) => {
  const message = parseRoleMessage(value);
  if (message?.type === 'stop') stopping.resolve();
  else if (message?.type === 'turn-grant') turns.receive(message);
  else if (message?.type === 'metrics-answer') exchange.receive(message);
  else if (message?.type === 'metrics-request') void answerMetrics(message.id);
});

try {
  await work();
  process.exit(0);
} catch (error) {
  process.stderr.write(`chainstead ${role}: ${describeError(error)}\n`);
  process.exit(exitCodeOf(error));
}

async function work(): Promise<void> {
  const file = process.env.CHAINSTEAD_CONFIG;
  const environment = environmentSource(process.env);
  const { configuration } = parseConfiguration(file === undefined ? [environment] : [environment, fileSource(file)]);
  const running = await runRole(role, {
    configuration,
    // The supervisor sets it, also where the database is embedded.
    databaseUrl: configuration.database.url ?? '',
    logger: createLogger({ level: configuration.logLevel, role }),
    metrics,
    clock: systemClock,
    turns,
  });
  send({ type: 'ready', role, address: running.address });
  await stopping.promise;
  await running.stop();
}

async function answerMetrics(id: number): Promise<void> {
  send({ type: 'metrics-answer', id, processes: [await metrics.families()] });
}
