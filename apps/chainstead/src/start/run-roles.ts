import {
  type Clock,
  createLogger,
  createMetricsRegistry,
  errorText,
  type Logger,
  measureProcess,
  type Registry,
  restartDelayMs,
  sleepUnlessAborted,
} from '@chainstead/core';
import { isOutage } from '@chainstead/db';
import { measureDisk } from '@chainstead/db/server';
import { createLocalUpstreamLimits } from '@chainstead/rpc/pool';
import type { Configuration, RoleName } from '../configuration/index.ts';
import { releaseStartMemory } from '../release-start-memory.ts';
import { listen } from '../roles/listen.ts';
import type { RunningRole } from '../roles/role.ts';
import { runRole } from '../roles/run-role.ts';
import type { CommandContext } from '../session/command-context.ts';
import type { Storage } from '../session/storage.ts';
import type { RoleSlot } from '../shares/role-slot.ts';
import { type LaunchedRole, launchRole } from '../supervisor/launch-role.ts';
import { createMetricsExchange } from '../supervisor/metrics-exchange.ts';
import { createSupervisor, createSupervisorMetrics, type RoleReady } from '../supervisor/supervisor.ts';
import { type CallingProcess, createUpstreamShares } from '../supervisor/upstream-shares.ts';

interface RunRolesOptions {
  readonly slots: readonly RoleSlot[];
  readonly configuration: Configuration;
  readonly configurationFile: string | null;
  readonly storage: Storage;
  readonly logger: Logger;
  readonly context: CommandContext;
  /** At SIGHUP, before processes are replaced. */
  onReload?(): void;
  /** Once every role is ready. @param metrics address of a separate `/metrics`; null: none */
  onReady(ready: readonly RoleReady[], metrics: string | null): void;
}

/** From the request to stop until the kill. */
const STOP_TIMEOUT_MS = 15_000;
const NOTHING_TO_REPLACE =
  'SIGHUP ignored. It replaces API processes only if they are child processes: run several (ROLES=api:2), or several roles';

export async function runRoles(options: RunRolesOptions): Promise<void> {
  const [only, ...others] = options.slots;
  if (only !== undefined && others.length === 0) await runHere(only, options);
  else await runSupervised(options);
}

async function runHere(slot: RoleSlot, options: RunRolesOptions): Promise<void> {
  const { configuration, storage, context } = options;
  const { role } = slot;
  const metrics = createMetricsRegistry({ role });
  measureMachine(options, metrics);
  const facts = {
    configuration,
    databaseUrl: storage.url,
    logger: createLogger({ level: configuration.logLevel, role }),
    metrics,
    clock: context.clock,
    callLimits: createLocalUpstreamLimits(context.clock),
  };
  const running = await onceDatabaseAnswers(() => runRole(slot, facts), {
    clock: context.clock,
    logger: options.logger,
    signal: context.stopSignal,
  });
  const endReloads = context.onReload?.(() => {
    options.onReload?.();
    options.logger.warn(NOTHING_TO_REPLACE);
  });
  try {
    const system = await startSystem(options, metrics);
    options.onReady([{ role, address: running.address }], system?.address ?? null);
    releaseStartMemory();
    await new Promise<void>((resolve) => onAbort(context.stopSignal, resolve));
    context.stderr.write(renderFinishing([role]));
    await system?.stop();
  } finally {
    endReloads?.();
    await running.stop();
  }
}

async function runSupervised(options: RunRolesOptions): Promise<void> {
  const { context, logger } = options;
  const exchange = createMetricsExchange();
  const shares = createUpstreamShares();
  const launched = new Map<RoleSlot, LaunchedRole>();
  const metrics = createMetricsRegistry({
    role: 'start',
    otherProcesses: () => exchange.collect(othersOf(null)),
  });
  measureMachine(options, metrics);
  // By slot: a process being replaced reports its own metrics.
  const othersOf = (own: RoleSlot | null): LaunchedRole[] =>
    [...launched].filter(([slot]) => slot !== own).map(([, process]) => process);

  const launch = (slot: RoleSlot): LaunchedRole => {
    const process = launchRole(slot, {
      environment: childEnvironment(options),
      onMessage(message) {
        if (message.type === 'metrics-answer') exchange.receive(message);
        if (message.type === 'limit-report') shares.receive(calling, message);
        if (message.type === 'metrics-request')
          void Promise.all([metrics.families(), exchange.collect(othersOf(slot))]).then(([own, others]) =>
            process.send({ type: 'metrics-answer', id: message.id, processes: [own, ...others] }),
          );
      },
    });
    const calling: CallingProcess = { role: slot.role, send: process.send };
    void process.exited.then(() => shares.left(calling));
    launched.set(slot, process);
    return process;
  };

  const supervisor = createSupervisor({
    slots: options.slots,
    launch,
    clock: context.clock,
    logger,
    metrics: createSupervisorMetrics(metrics),
    stopTimeoutMs: STOP_TIMEOUT_MS,
    onFinishing: (roles) => {
      if (context.stopSignal.aborted) context.stderr.write(renderFinishing(roles));
    },
  });
  onAbort(context.stopSignal, () => supervisor.stop());
  const endReloads = context.onReload?.(() => {
    options.onReload?.();
    if (options.slots.some(({ role }) => role === 'api')) void supervisor.replace('api');
    else logger.warn(NOTHING_TO_REPLACE);
  });
  let system: RunningRole | null = null;
  try {
    system = await startSystem(options, metrics);
    // After an early stop, `ready` never settles.
    const ready = await Promise.race([supervisor.ready, supervisor.finished]);
    if (ready !== undefined) options.onReady(ready, system?.address ?? null);
    releaseStartMemory();
    await supervisor.finished;
  } finally {
    endReloads?.();
    supervisor.stop();
    await supervisor.finished.catch((error) => logger.debug({ err: error }, 'Supervision ended'));
    await system?.stop();
  }
}

function measureMachine({ configuration, storage, logger }: RunRolesOptions, metrics: Registry): void {
  measureProcess(metrics);
  if (storage.isEmbedded) measureDisk(metrics, configuration.database.dataDirectory, logger);
}

async function startSystem(options: RunRolesOptions, metrics: Registry): Promise<RunningRole | null> {
  const { configuration, storage, logger, context } = options;
  const { host, port } = configuration.metrics;
  if (port === null) return null;
  const { database, url: databaseUrl } = storage;
  const role = { configuration, database, databaseUrl, logger, metrics, clock: context.clock };
  return listen(role, { routes: [], host, port, servesMetrics: true, isMetricsPort: true });
}

function childEnvironment(options: RunRolesOptions): Record<string, string | undefined> {
  const { analystUrl } = options.configuration.database;
  return {
    ...options.context.environment,
    DATABASE_URL: options.storage.url,
    ...(analystUrl !== null && { DATABASE_ANALYST_URL: analystUrl }),
    ...(options.configurationFile === null ? {} : { CHAINSTEAD_CONFIG: options.configurationFile }),
  };
}

function onAbort(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', () => callback(), { once: true });
}

const WORK: Readonly<Record<RoleName, string>> = {
  api: 'requests (api)',
  ingest: 'blocks in progress (ingest)',
  worker: 'jobs and webhooks (worker)',
};

function renderFinishing(roles: readonly RoleName[]): string {
  return `Stopping. Waiting for ${roles.map((role) => WORK[role]).join(', ')}. Press Ctrl-C again to stop immediately\n`;
}

interface WaitOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  isFinal?(error: unknown): boolean;
}

const WAIT_MAX_MS = 60_000;

/** Steps must be repeatable. @throws errors of the step; an outage after one minute */
export async function onceDatabaseAnswers<T>(step: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { clock, logger, signal, isFinal } = options;
  const ends = clock.now() + WAIT_MAX_MS;
  for (let failures = 1; ; failures++) {
    try {
      return await step();
    } catch (error) {
      const delayMs = restartDelayMs(failures);
      const isOver =
        signal.aborted || clock.now() + delayMs > ends || (failures === 1 && isFinal?.(error) === true);
      if (isOver || !isOutage(error)) throw error;
      logger.warn({ error: errorText(error), delay_ms: delayMs }, 'Database unavailable, waiting for it');
      await sleepUnlessAborted(clock, delayMs, signal);
    }
  }
}
