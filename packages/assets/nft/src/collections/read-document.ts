import { ChainsteadError, type Clock } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { parseDataUri } from './data-uri.ts';
import { DocumentError } from './document-error.ts';
import { type DocumentPlace, parseDocumentPlace } from './document-place.ts';
import { createDocumentFetch, DOCUMENT_BYTES_MAX, type Document } from './fetch-document.ts';

export interface DocumentReader {
  read(uri: string, signal: AbortSignal): Promise<Document>;
}

export interface DocumentReaderOptions {
  readonly egress: Egress;
  readonly ipfsGateways: readonly string[];
  readonly arweaveGateways: readonly string[];
  readonly clock: Clock;
  /** @default 2 MiB */
  readonly bytesMax?: number;
}

/** Milliseconds, per request: resolving, connecting, redirects, body. */
const REQUEST_MS_MAX = 10_000;
/** Milliseconds for all locations together. */
const DOCUMENT_MS_MAX = 25_000;

export function createDocumentReader(options: DocumentReaderOptions): DocumentReader {
  const { clock, bytesMax = DOCUMENT_BYTES_MAX } = options;
  const { getPlain, getBlock } = createDocumentFetch(options.egress, bytesMax);

  type Attempt = (timeoutMs: number, signal: AbortSignal) => Promise<Document>;

  function attemptsFor(place: Exclude<DocumentPlace, { kind: 'data' }>): Attempt[] {
    switch (place.kind) {
      case 'http':
        return [(timeoutMs, signal) => getPlain(place.url, timeoutMs, signal)];
      case 'arweave':
        return options.arweaveGateways.map(
          (gateway) => (timeoutMs, signal) => getPlain(below(gateway, place.path), timeoutMs, signal),
        );
      case 'ipfs': {
        const { id, path } = place;
        const provable = path === '' && id.sha256 !== null && id.codec !== 'other';
        const urls = options.ipfsGateways.map((gateway) => below(gateway, `/ipfs/${id.text}${path}`));
        if (place.given !== null && !urls.includes(place.given)) urls.push(place.given);
        return urls.map(
          (url) => (timeoutMs, signal) =>
            provable ? getBlock(url, id, timeoutMs, signal) : getPlain(url, timeoutMs, signal),
        );
      }
    }
  }

  return {
    async read(uri, signal) {
      const place = parseDocumentPlace(uri);
      if (place.kind === 'data') {
        const { bytes, mediaType, decoded } = parseDataUri(place.uri, bytesMax);
        return { bytes, mediaType, verified: null, decoded };
      }
      const deadline = clock.now() + DOCUMENT_MS_MAX;
      const failures: ChainsteadError[] = [];
      for (const attempt of attemptsFor(place)) {
        const timeoutMs = Math.min(REQUEST_MS_MAX, deadline - clock.now());
        if (timeoutMs <= 0) break;
        try {
          return await attempt(timeoutMs, signal);
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof ChainsteadError)) throw error;
          failures.push(error);
        }
      }
      throw failureOf(failures);
    },
  };
}

function failureOf(failures: readonly ChainsteadError[]): ChainsteadError {
  const [only, ...others] = failures;
  if (only === undefined)
    return new DocumentError({
      code: 'DOCUMENT_TIMEOUT',
      message: `No server returned the document within ${DOCUMENT_MS_MAX} ms`,
      retryable: true,
    });
  if (others.every((other) => other.code === only.code)) return only;
  const reasons = failures.map(({ message, code }) => `${message} [${code}]`).join('; ');
  return new DocumentError({
    code: 'DOCUMENT_GATEWAYS_FAILED',
    message: `No gateway returned the document: ${reasons}`,
    facts: { codes: failures.map(({ code }) => code) },
    retryable: failures.some((failure) => failure.retryable),
  });
}

function below(gateway: string, path: string): string {
  return `${gateway.replace(/\/+$/, '')}${path}`;
}
