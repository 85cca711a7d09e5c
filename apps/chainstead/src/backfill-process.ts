/** Helper process of `chainstead backfill`, until it is done, stopped, or the channel closes. */
import { createLogger, createMetricsRegistry, systemClock } from '@chainstead/core';
import { openDatabase } from '@chainstead/db/server';
import { createSyncMetrics, helpBackfill, proveRead } from '@chainstead/sync/ingest';
import { z } from 'zod';
import { environmentSource, fileSource, parseConfiguration } from './configuration/index.ts';
import { describeError, exitCodeOf } from './errors/describe-error.ts';
import { readIndexedDatasets } from './session/chain-session.ts';
import { parseChainConfiguration } from './session/read-configuration.ts';
import { createSignerProcesses } from './session/signer-processes.ts';
import { openHistory, openPool } from './session/upstream-pools.ts';
import { parseRoleMessage, type RoleMessage } from './supervisor/metrics-exchange.ts';
import { createSharedLimits } from './supervisor/shared-limits.ts';

const block = z.number().int().nonnegative();
const reported = z
  .object({ chain: z.string(), ranges: z.array(z.object({ from: block, to: block })), number: z.number().int() })
  .parse(JSON.parse(process.argv[2] ?? ''));
const stopping = new AbortController();
const stop = (): void => stopping.abort(new Error('The helper was asked to end'));
// Ctrl-C reaches the whole process group; the command stops this process.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
process.on('SIGTERM', stop);
process.on('disconnect', stop);

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
  await new Promise<void>((resolve) => send({ type: 'helped', logs }, resolve));
  process.exit(0);
} catch (error) {
  if (stopping.signal.aborted) process.exit(0);
  process.stderr.write(`chainstead backfill-${reported.number}: ${describeError(error)}\n`);
  process.exit(exitCodeOf(error));
}

async function work(): Promise<number> {
  const file = process.env.CHAINSTEAD_CONFIG;
  const environment = environmentSource(process.env);
  const sources = file === undefined || file === '' ? [environment] : [environment, fileSource(file)];
  const named = parseConfiguration(sources).configuration;
  const { configuration, configured } = parseChainConfiguration(reported.chain, sources, named);
  const { backfillProof, chain, retention, proof } = configured;
  const logger = createLogger({
    level: configuration.logLevel === 'info' ? 'warn' : configuration.logLevel,
    destination: { write: (line) => process.stderr.write(line) },
  });
  const database = openDatabase({
    url: configuration.database.url ?? '',
    sessionUrl: configuration.database.sessionUrl,
    applicationName: `chainstead backfill-${reported.number}`,
    logger,
  });
  const registry = createMetricsRegistry();
  const pool = openPool(configured, { logger, metrics: registry, clock: systemClock, callLimits });
  const signers = createSignerProcesses();
  const { recover: recoverSigners } = signers;
  const history = openHistory(configured, {
    ...{ logger, metrics: registry, clock: systemClock },
    ...{ callLimits, recoverSigners },
  });
  try {
    await pool.start();
    const datasets = await readIndexedDatasets(database, configuration);
    const metrics = createSyncMetrics(registry);
    const done = await helpBackfill(
      {
        ...{ chain, database, datasets, retention, logger, metrics, pool },
        clock: systemClock,
        order: 'newest-first',
        proof: backfillProof,
        policy: proof,
        sources: history,
        recoverSigners,
        proveRead: configuration.verifyBlocksPerSecond === 0 ? undefined : proveRead,
        onProgress: ({ logs }) => send({ type: 'helped', logs }),
      },
      reported.ranges,
      stopping.signal,
    );
    return done.logs;
  } finally {
    await pool.close();
    await history?.close();
    await signers.close();
    await database.close();
  }
}
