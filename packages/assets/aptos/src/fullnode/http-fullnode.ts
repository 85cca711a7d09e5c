import {
  basicAuthorization,
  createHttpExchange,
  type HttpAnswer,
  isLocal,
  TransportError,
} from '@chainstead/rpc/upstream-http';
import { FullnodeFault } from './errors.ts';

export interface HttpFullnode {
  /** @param path after `/v1` @throws FullnodeFault connection, timeout, truncated, too-large */
  get(path: string, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface HttpFullnodeOptions {
  readonly url: string;
  readonly apiKey: string | null;
  readonly connections: number;
  readonly answerBytesMax: number;
  readonly timeoutMs: number;
}

export function createHttpFullnode(options: HttpFullnodeOptions): HttpFullnode {
  const { answerBytesMax, timeoutMs } = options;
  const url = new URL(options.url);
  const base = `${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`;
  const headers = requestHeaders(url, options.apiKey);
  const exchange = createHttpExchange({ origin: url.origin, connections: options.connections, answerBytesMax });
  return {
    async get(path, signal) {
      const query = url.search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${url.search.slice(1)}`;
      try {
        return await exchange.send({ method: 'GET', path: `${base}${query}`, headers, timeoutMs, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof TransportError)) throw error;
        const kind = error.kind === 'not-json' || error.kind === 'aborted' ? 'connection' : error.kind;
        throw new FullnodeFault(kind, error.message, { cause: error });
      }
    },
    close: () => exchange.close(),
  };
}

function requestHeaders(url: URL, apiKey: string | null): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (!isLocal(url)) headers['accept-encoding'] = 'gzip, br';
  const authorization = apiKey === null ? basicAuthorization(url) : `Bearer ${apiKey}`;
  if (authorization !== null) headers.authorization = authorization;
  return headers;
}
