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

/** Beyond it, the thread ends and the next request starts another. */
const MEMORY = { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 64, stackSizeMb: 1 };

export function createExecutor(
  settings: ThreadSettings,
  logger: Logger,
  idleMs = Number.POSITIVE_INFINITY,
): Executor {
  let current: { readonly worker: Worker; readonly ended: Promise<unknown> } | null = null;
  let idle: NodeJS.Timeout | undefined;
  let open = 0;

  function start(): Worker {
    const worker = new Worker(new URL('./graphql-thread.ts', import.meta.url), {
      workerData: settings,
      env: { GRAPHILE_ENV: 'production' },
      resourceLimits: MEMORY,
    });
    worker.on('message', (line: string) => {
      const { level, msg, time: _, ...fields } = logLine.parse(JSON.parse(line));
      logger[level](fields, msg);
    });
    worker.on('error', (error) => logger.error({ error: errorText(error) }, 'GraphQL thread failed'));
    const ended = new Promise((resolve) => {
      worker.once('exit', resolve);
    });
    const started = { worker, ended };
    worker.once('exit', () => {
      if (current === started) current = null;
    });
    current = started;
    return worker;
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
      return openExchange(current?.worker ?? start(), request, closed);
    },
    close: end,
  };
}

function openExchange(worker: Worker, request: ThreadRequest, onClosed: () => void): ThreadExchange {
  const { port1, port2 } = new MessageChannel();
  let waiting: PromiseWithResolvers<ThreadReply> | null = null;
  let state: 'open' | 'closed' | 'lost' = 'open';
  const settle = (reply: ThreadReply): void => {
    waiting?.resolve(reply);
    waiting = null;
  };
  port1.on('message', settle);
  port1.on('close', () => {
    if (state === 'open') state = 'lost';
    if (state === 'lost') waiting?.reject(lost());
    else settle(ENDED);
    onClosed();
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
