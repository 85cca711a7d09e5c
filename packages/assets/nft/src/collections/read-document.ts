import { ChainsteadError, type Clock } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import { DocumentError, type DocumentPlace, parseDocumentPlace } from './document-place.ts';
import { createDocumentFetch, DOCUMENT_BYTES_MAX, type Document } from './fetch-document.ts';

export interface DocumentReader {
  read(uri: string, signal: AbortSignal): Promise<Document>;
}

interface DocumentReaderOptions {
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

/** RFC 2397, and the looser forms that contracts use. */
interface DataUri {
  /** Lower case, without parameters. `text/plain` if the URI has none. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly decoded: Uint8Array | null;
}

/** Leaves JSON and SVG undecoded, for the URIs inside. @throws DocumentError */
export function parseDataUri(uri: string, bytesMax: number): DataUri {
  const comma = uri.indexOf(',');
  if (comma < 0 || comma > HEADER_LENGTH_MAX) throw invalid('it has no comma after its media type');
  const [type = '', ...parameters] = uri.slice('data:'.length, comma).split(';');
  const payload = uri.slice(comma + 1);
  const mediaType = type.trim().toLowerCase() || 'text/plain';
  const flags = parameters.map((parameter) => parameter.trim().toLowerCase());
  // JSON and SVG that claim to be base64 are not: neither starts with a base64 digit.
  const isPlain = /^\s*[{[<]/.test(payload);
  if (flags.includes('base64') && !isPlain)
    return { mediaType, bytes: fromBase64(payload, bytesMax), decoded: null };
  if (payload.length > bytesMax) throw tooLarge(bytesMax);
  const charset = flags.find((flag) => flag.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8';
  const asItStands = Buffer.from(payload.toWellFormed());
  const resolved = toUtf8(resolvePercents(payload), charset);
  if (Math.max(asItStands.length, resolved.length) > bytesMax) throw tooLarge(bytesMax);
  return isPlain
    ? { mediaType, bytes: asItStands, decoded: payload.includes('%') ? resolved : null }
    : { mediaType, bytes: resolved, decoded: null };
}

const HEADER_LENGTH_MAX = 512;

function fromBase64(payload: string, bytesMax: number): Buffer {
  // Four digits encode three bytes, and a percent sequence is three characters for one.
  if (payload.length > bytesMax * 4) throw tooLarge(bytesMax);
  const digits = payload.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const bare = digits.replace(/\s+/g, '').replace(/=+$/, '');
  if (/[^A-Za-z0-9+/_-]/.test(bare) || bare.length % 4 === 1) throw invalid('its payload is not base64');
  const bytes = Buffer.from(bare, 'base64');
  if (bytes.length > bytesMax) throw tooLarge(bytesMax);
  return bytes;
}

function resolvePercents(text: string): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const match of text.matchAll(/(?:%[0-9a-f]{2})+/gi)) {
    pieces.push(
      Buffer.from(text.slice(at, match.index).toWellFormed()),
      Buffer.from(match[0].replaceAll('%', ''), 'hex'),
    );
    at = match.index + match[0].length;
  }
  pieces.push(Buffer.from(text.slice(at).toWellFormed()));
  return Buffer.concat(pieces);
}

/** Leaves the bytes of unsupported charsets unchanged. */
function toUtf8(bytes: Buffer, charset: string): Buffer {
  const label = charset.replace(/^"(.*)"$/, '$1');
  if (/^utf-?8$|^us-ascii$/.test(label)) return bytes;
  try {
    return Buffer.from(new TextDecoder(label).decode(bytes));
  } catch (error) {
    if (error instanceof RangeError) return bytes;
    throw error;
  }
}

function invalid(reason: string): DocumentError {
  return new DocumentError({ code: 'DOCUMENT_DATA_INVALID', message: `The data: URI can't be read: ${reason}` });
}

function tooLarge(bytesMax: number): DocumentError {
  return new DocumentError({
    code: 'DOCUMENT_TOO_LARGE',
    message: `The data: URI is larger than ${bytesMax} bytes`,
    facts: { limit_bytes: bytesMax },
  });
}
