import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type BlockRange, type Clock, type Logger, restartDelayMs, sleepUnlessAborted } from '@chainstead/core';
import type { UpstreamLimits } from '@chainstead/rpc/pool';
import { parseRoleMessage, type RoleMessage } from '../supervisor/metrics-exchange.ts';
import { createSharedLimits } from '../supervisor/shared-limits.ts';
import { type CallingProcess, createUpstreamShares } from '../supervisor/upstream-shares.ts';

const ENTRY = fileURLToPath(new URL('../backfill-process.ts', import.meta.url));
const STOP_MS = 15_000;

export interface HelpedBackfill {
  readonly chain: string;
  readonly ranges: readonly BlockRange[];
  readonly count: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

export interface BackfillHelpers {
  readonly callLimits: UpstreamLimits;
  begin(helped: HelpedBackfill): void;
  /** Logs read and committed by helpers. */
  logs(): number;
  end(): Promise<void>;
}

export function createBackfillHelpers(clock: Clock): BackfillHelpers {
  const shares = createUpstreamShares();
  const self: CallingProcess = { role: 'ingest', send: (message) => callLimits.receive(message) };
  // Deferred, as between processes: shares must not be divided while they are distributed.
  const callLimits = createSharedLimits((message) => queueMicrotask(() => shares.receive(self, message)), clock);
  const ending = new AbortController();
  const helpers: Promise<void>[] = [];
  let logs = 0;

  /** @returns its exit code; null after a signal */
  function runOne(helped: HelpedBackfill, number: number): Promise<number | null> {
    const child = launch(helped, number);
    const calling: CallingProcess = { role: 'ingest', send: (message) => sendTo(child, message) };
    let reported = 0;
    child.on('message', (value) => {
      const message = parseRoleMessage(value);
      if (message?.type === 'limit-report') shares.receive(calling, message);
      if (message?.type !== 'helped') return;
      logs += message.logs - reported;
      reported = message.logs;
    });
    const stopped = Promise.withResolvers<number | null>();
    // The last message may arrive after the exit event.
    child.on('exit', (code) => {
      if (child.connected) child.once('disconnect', () => stopped.resolve(code));
      else stopped.resolve(code);
    });
    child.on('error', () => {
      if (child.pid === undefined) stopped.resolve(null);
    });
    const stop = (): void => {
      sendTo(child, { type: 'stop', idleGraceMs: 0 });
      const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      void stopped.promise.then(() => clearTimeout(impatience));
    };
    if (ending.signal.aborted) stop();
    else ending.signal.addEventListener('abort', stop, { once: true });
    return stopped.promise.finally(() => {
      ending.signal.removeEventListener('abort', stop);
      shares.left(calling);
    });
  }

  async function keepOne(helped: HelpedBackfill, number: number): Promise<void> {
    for (let crashes = 1; !ending.signal.aborted; crashes += 1) {
      const code = await runOne(helped, number);
      if (code === 0 || ending.signal.aborted) return;
      const fields = { chain: helped.chain, exit_code: code, delay_ms: restartDelayMs(crashes) };
      helped.logger.warn(fields, 'Backfill helper process ended unexpectedly, restarting it');
      await sleepUnlessAborted(clock, restartDelayMs(crashes), ending.signal);
    }
  }

  return {
    callLimits,
    begin: (helped) => {
      for (let number = 2; number <= helped.count + 1; number += 1) helpers.push(keepOne(helped, number));
    },
    logs: () => logs,
    async end() {
      ending.abort();
      await Promise.all(helpers);
    },
  };
}

function launch({ chain, ranges, environment }: HelpedBackfill, number: number): ChildProcess {
  return fork(ENTRY, [JSON.stringify({ chain, ranges, number })], {
    // Standard output is the command's own.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: { ...environment },
  });
}

function sendTo(child: ChildProcess, message: RoleMessage): void {
  // The channel may close in between: the process is ending.
  if (child.connected) child.send(message, () => undefined);
}
