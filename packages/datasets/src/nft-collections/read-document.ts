import { ChainsteadError, type Clock } from '@chainstead/core';
import type { Egress, EgressResponse } from '@chainstead/egress';
import { type ContentId, isBlockOf } from './content-id.ts';
import { parseDataUri } from './data-uri.ts';
import { DocumentError } from './document-error.ts';
import { type DocumentPlace, parseDocumentPlace } from './document-place.ts';
import { readUnixfsBlock, writeUnixfsFile } from './unixfs-block.ts';

/** A document as it was found. */
export interface Document {
  readonly bytes: Uint8Array;
  /** As the URI or the server says; null where neither does. Never relied on. */
  readonly mediaType: string | null;
  /** Whether the bytes were proven to be those of an IPFS identifier; null where nothing could be proven. */
  readonly verified: boolean | null;
  /** Another reading of a `data:` URI (data-uri.ts); else null. */
  readonly decoded: Uint8Array | null;
}

/** Reads documents from wherever contracts say that they are. */
export interface DocumentReader {
  /**
   * @throws DocumentError, EgressError, or the signal's reason.
   */
  read(uri: string, signal: AbortSignal): Promise<Document>;
}

export interface DocumentReaderOptions {
  /** The guarded client: what a contract names is a stranger's URL. */
  readonly egress: Egress;
  /** Gateways for `ipfs://` and `ar://`, tried in order. */
  readonly ipfsGateways: readonly string[];
  readonly arweaveGateways: readonly string[];
  readonly clock: Clock;
}

/** Largest document. Bytes, after decompression. */
export const DOCUMENT_BYTES_MAX = 2_097_152;
/** For one request: resolving, connecting, redirects, body. Milliseconds. */
const REQUEST_MS_MAX = 10_000;
/** For all places together. Milliseconds. */
export const DOCUMENT_MS_MAX = 25_000;
const REDIRECTS_MAX = 5;
/** The common implementations write files up to this as one block; anything else that fits is a lie. */
const SINGLE_BLOCK_BYTES = 262_144;

export function createDocumentReader(options: DocumentReaderOptions): DocumentReader {
  const { egress, clock } = options;

  async function get(url: string, accept: string, timeoutMs: number, signal: AbortSignal): Promise<EgressResponse> {
    const response = await egress.request({
      url,
      headers: { accept, 'user-agent': 'chainstead' },
      redirects: REDIRECTS_MAX,
      timeoutMs,
      maxResponseBytes: DOCUMENT_BYTES_MAX,
      signal,
    });
    if (response.status >= 200 && response.status < 300) return response;
    const { host } = new URL(response.url);
    throw new DocumentError({
      code: 'DOCUMENT_HTTP_STATUS',
      message: `${host} answered ${response.status}`,
      facts: { host, status: response.status },
      retryable: true,
    });
  }

  async function getPlain(url: string, timeoutMs: number, signal: AbortSignal): Promise<Document> {
    const response = await get(url, 'application/json, image/*, */*;q=0.5', timeoutMs, signal);
    return { bytes: response.body, mediaType: mediaTypeOf(response), verified: null, decoded: null };
  }

  /** Asks for the block itself, whose hash can be checked; gateways that don't know that give the file. */
  async function getBlock(url: string, id: ContentId, timeoutMs: number, signal: AbortSignal): Promise<Document> {
    const asked = new URL(url);
    asked.searchParams.set('format', 'raw');
    const response = await get(asked.href, 'application/vnd.ipld.raw, */*;q=0.5', timeoutMs, signal);
    const content = provenContent(id, response.body);
    if (content !== null) return { bytes: content, mediaType: null, verified: true, decoded: null };
    const isLarger = isBlockOf(id, response.body) === true;
    return isLarger ? getPlain(url, timeoutMs, signal) : unprovenAnswer(id, response);
  }

  /** One try at one place. */
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
        const { bytes, mediaType, decoded } = parseDataUri(place.uri, DOCUMENT_BYTES_MAX);
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

/** The file that a block proves: the block itself for `raw`, the file in it for a `dag-pb` block that holds a whole one. */
function provenContent(id: ContentId, block: Uint8Array): Uint8Array | null {
  if (isBlockOf(id, block) === true) {
    if (id.codec === 'raw') return block;
    const unixfs = readUnixfsBlock(block);
    if (unixfs?.kind === 'file') return unixfs.content;
    return null;
  }
  // The gateway gave the file instead of the block: the block can be made again.
  return id.codec === 'dag-pb' && isBlockOf(id, writeUnixfsFile(block)) === true ? block : null;
}

/** An answer that is not the block. A small file would have been proven, so it is another one. */
function unprovenAnswer(id: ContentId, response: EgressResponse): Document {
  if (id.codec === 'dag-pb' && response.body.length > SINGLE_BLOCK_BYTES)
    return { bytes: response.body, mediaType: mediaTypeOf(response), verified: null, decoded: null };
  const { host } = new URL(response.url);
  throw new DocumentError({
    code: 'DOCUMENT_CID_MISMATCH',
    message: `${host} gave other bytes than those of ${id.text}`,
    facts: { host, cid: id.text },
    retryable: true,
  });
}

function failureOf(failures: readonly ChainsteadError[]): ChainsteadError {
  const [only, ...others] = failures;
  if (only === undefined)
    return new DocumentError({
      code: 'DOCUMENT_TIMEOUT',
      message: `No place gave the document within ${DOCUMENT_MS_MAX} ms`,
      retryable: true,
    });
  if (others.every((other) => other.code === only.code)) return only;
  const reasons = failures.map(({ message, code }) => `${message} [${code}]`).join('; ');
  return new DocumentError({
    code: 'DOCUMENT_GATEWAYS_FAILED',
    message: `No gateway gave the document: ${reasons}`,
    facts: { codes: failures.map(({ code }) => code) },
    retryable: failures.some((failure) => failure.retryable),
  });
}

/** A gateway may live below a path of its own. */
function below(gateway: string, path: string): string {
  return `${gateway.replace(/\/+$/, '')}${path}`;
}

function mediaTypeOf({ headers }: EgressResponse): string | null {
  const type = headers['content-type'];
  return typeof type === 'string' ? (type.split(';')[0] ?? '').trim().toLowerCase() || null : null;
}
