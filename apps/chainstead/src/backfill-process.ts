/** A process that helps a `chainstead backfill`, started by it over an IPC channel: fills until nothing is left, or until told to stop or left alone. */
import { createLogger, createMetricsRegistry, systemClock } from '@chainstead/core';
import { openDatabase } from '@chainstead/db';
import { createSyncMetrics, helpBackfill } from '@chainstead/sync';
import { z } from 'zod';
import { environmentSource, fileSource, parseConfiguration } from './configuration/index.ts';
import { describeError } from './describe-error.ts';
import { exitCodeOf } from './exit-code-of.ts';
import { parseChainConfiguration } from './read-configuration.ts';
import { createSignerProcesses } from './signer-processes.ts';
import { parseRoleMessage, type RoleMessage } from './supervisor/role-messages.ts';
import { createSharedLimits } from './supervisor/shared-limits.ts';
import { openPool } from './upstream-pools.ts';

const block = z.number().int().nonnegative();
const told = z
  .object({ chain: z.string(), ranges: z.array(z.object({ from: block, to: block })), number: z.number().int() })
  .parse(JSON.parse(process.argv[2] ?? ''));
const stopping = new AbortController();
const stop = (): void => stopping.abort(new Error('The helper was asked to end'));
// Ctrl-C reaches the whole process group: the command answers to it, and then tells us.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
process.on('SIGTERM', stop);
process.on('disconnect', stop);

/** @param onSent called when it is on its way, or when the command is gone */
const send = (message: RoleMessage, onSent: () => void = () => undefined): void => {
  if (process.connected && process.send !== undefined) process.send(message, undefined, undefined, onSent);
  else onSent();
};
const callLimits = createSharedLimits((message) => send(message), systemClock);
process.on('message', (value) => {
  const message = parseRoleMessage(value);
  if (message?.type === 'stop') stop();
  else if (message?.type === 'limit-share') callLimits.receive(message);
});

try {
  const logs = await work();
  // What is sent last is lost where the process ends before.
  await new Promise<void>((resolve) => send({ type: 'helped', logs }, resolve));
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted) process.exit(0);
  process.stderr.write(`chainstead backfill-${told.number}: ${describeError(error)}\n`);
  process.exit(exitCodeOf(error));
}

/** @returns logs that were read and committed */
async function work(): Promise<number> {
  const file = process.env.CHAINSTEAD_CONFIG;
  const environment = environmentSource(process.env);
  const sources = file === undefined ? [environment] : [environment, fileSource(file)];
  const named = parseConfiguration(sources).configuration;
  const { configuration, configured } = parseChainConfiguration(told.chain, sources, named);
  const { backfillProof, chain, keep, proof } = configured;
  const logger = createLogger({
    level: configuration.logLevel === 'info' ? 'warn' : configuration.logLevel,
    destination: { write: (line) => process.stderr.write(line) },
  });
  const database = openDatabase({
    // The command sets it, also where the database is embedded.
    url: configuration.database.url ?? '',
    sessionUrl: configuration.database.sessionUrl,
    applicationName: `chainstead backfill-${told.number}`,
    poolSize: configuration.database.poolSize,
    logger,
  });
  const registry = createMetricsRegistry();
  const pool = openPool(configured, { logger, metrics: registry, clock: systemClock, callLimits });
  const signers = createSignerProcesses();
  try {
    await pool.start();
    const { datasets } = configuration;
    const metrics = createSyncMetrics(registry);
    const done = await helpBackfill(
      {
        ...{ chain, database, datasets, keep, logger, metrics, pool },
        clock: systemClock,
        order: 'newest-first',
        proof: backfillProof,
        policy: proof,
        recoverSigners: signers.recover,
        onProgress: ({ logs }) => send({ type: 'helped', logs }),
      },
      told.ranges,
      stopping.signal,
    );
    return done.logs;
  } finally {
    await pool.close();
    await signers.close();
    await database.close();
  }
}
