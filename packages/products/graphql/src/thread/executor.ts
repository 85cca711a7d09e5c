import { MessageChannel, Worker } from 'node:worker_threads';
import type { Chain } from '@chainstead/chains';
import { errorText, type Logger } from '@chainstead/core';
import { z } from 'zod';
import type { GraphqlRequest } from '../operations/operation.ts';
import { GraphqlRefusalError } from '../refusal.ts';

/** Work in this thread never delays the one that serves requests. */
interface Executor {
  open(request: ThreadRequest): ThreadExchange;
  close(): Promise<void>;
}

export interface ThreadExchange {
  /** @throws GraphqlRefusalError GRAPHQL_UNAVAILABLE if the thread ended */
  next(): Promise<ThreadReply>;
  close(): void;
}

const MEMORY = { maxYoungGenerationSizeMb: 64, stackSizeMb: 1 };
const HEAP_MB = 768;

interface ExecutorOptions {
  readonly logger: Logger;
  /** Beyond it, the thread ends and the next request starts another. @default 768 */
  readonly heapMb?: number | undefined;
  /** After the last operation, the thread ends. @default never */
  readonly idleMs?: number;
}

interface Thread {
  readonly worker: Worker;
  readonly ended: Promise<unknown>;
  /** Called when it ends. */
  readonly losses: Set<() => void>;
}

export function createExecutor(settings: ThreadSettings, options: ExecutorOptions): Executor {
  const { logger, heapMb = HEAP_MB, idleMs = Number.POSITIVE_INFINITY } = options;
  let current: Thread | null = null;
  let idle: NodeJS.Timeout | undefined;
  let open = 0;

  function start(): Thread {
    const worker = new Worker(new URL('./graphql-thread.ts', import.meta.url), {
      workerData: settings,
      env: { GRAPHILE_ENV: 'production' },
      resourceLimits: { ...MEMORY, maxOldGenerationSizeMb: heapMb },
    });
    worker.on('message', (line: string) => {
      const { level, msg, time: _, ...fields } = logLine.parse(JSON.parse(line));
      logger[level](fields, msg);
    });
    worker.on('error', (error) => logger.error({ error: errorText(error) }, 'GraphQL thread failed'));
    const ended = new Promise((resolve) => {
      worker.once('exit', resolve);
    });
    const started: Thread = { worker, ended, losses: new Set() };
    worker.once('exit', () => {
      retire(started);
      // The port of a request that the thread has not taken would stay open.
      for (const lose of started.losses) lose();
    });
    current = started;
    return started;
  }

  /** Its ports close some time before its exit. */
  function retire(thread: Thread): void {
    if (current === thread) current = null;
  }

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ending = current;
    current = null;
    ending?.worker.postMessage(null);
    await ending?.ended;
  }

  function closed(): void {
    open--;
    if (open === 0 && Number.isFinite(idleMs)) idle = setTimeout(end, idleMs).unref();
  }

  return {
    open(request) {
      clearTimeout(idle);
      open++;
      const thread = current ?? start();
      return openExchange(thread, request, (isLost) => {
        if (isLost) retire(thread);
        closed();
      });
    },
    close: end,
  };
}

function openExchange(
  { worker, losses }: Thread,
  request: ThreadRequest,
  onClosed: (isLost: boolean) => void,
): ThreadExchange {
  const { port1, port2 } = new MessageChannel();
  let waiting: PromiseWithResolvers<ThreadReply> | null = null;
  let state: 'open' | 'closed' | 'lost' = 'open';
  const settle = (reply: ThreadReply): void => {
    waiting?.resolve(reply);
    waiting = null;
  };
  const lose = (): void => port1.close();
  losses.add(lose);
  port1.on('message', settle);
  port1.on('close', () => {
    losses.delete(lose);
    if (state === 'open') state = 'lost';
    onClosed(state === 'lost');
    if (state === 'lost') waiting?.reject(lost());
    else settle(ENDED);
  });
  worker.postMessage({ request, port: port2 }, [port2]);
  return {
    async next() {
      if (state === 'lost') throw lost();
      if (state === 'closed') return ENDED;
      waiting = Promise.withResolvers();
      port1.postMessage(null);
      return waiting.promise;
    },
    close() {
      if (state === 'open') state = 'closed';
      port1.close();
    },
  };
}

const ENDED: ThreadReply = { type: 'ended' };

function lost(): GraphqlRefusalError {
  return new GraphqlRefusalError(
    'GRAPHQL_UNAVAILABLE',
    'GraphQL was restarted during the operation',
    'Retry, and request fewer rows if the error repeats.',
  );
}

const logLine = z.looseObject({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  msg: z.string(),
});

export interface ThreadSettings {
  readonly databaseUrl: string;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly concurrency: number;
  readonly chains: readonly Chain[];
  readonly logLevel: string;
}

/** Its port carries a null for each wanted reply, and the replies. */
export interface ThreadRequest extends GraphqlRequest {
  readonly keyId: string;
  readonly acceptsEvents: boolean;
}

export type ThreadReply =
  | {
      readonly type: 'result';
      readonly status: 200 | 400 | 500 | 503;
      readonly isRetryable: boolean;
      readonly body: Uint8Array<ArrayBuffer>;
    }
  | { readonly type: 'opened' | 'ended' }
  | { readonly type: 'event'; readonly body: Uint8Array<ArrayBuffer> };
