import type { Egress, EgressResponse } from '@chainstead/egress';
import { type ContentId, isBlockOf } from './content-id.ts';
import { DocumentError } from './document-error.ts';
import { readUnixfsBlock, writeUnixfsFile } from './unixfs-block.ts';

export interface Document {
  readonly bytes: Uint8Array;
  /** As declared by the URI or the server; never relied on. */
  readonly mediaType: string | null;
  /** Null: the bytes can't be proven to match an IPFS identifier. */
  readonly verified: boolean | null;
  readonly decoded: Uint8Array | null;
}

/** Bytes, both as sent and after decompression. */
export const DOCUMENT_BYTES_MAX = 2_097_152;
const REDIRECTS_MAX = 5;
/** Common implementations write files up to this size as one block: anything else is forged. */
const SINGLE_BLOCK_BYTES = 262_144;

/** Both throw DocumentError, EgressError, or the signal's reason. */
export function createDocumentFetch(egress: Egress, bytesMax: number = DOCUMENT_BYTES_MAX) {
  async function get(
    url: string,
    accept: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<EgressResponse> {
    const response = await egress.request({
      url,
      headers: { accept, 'user-agent': 'chainstead' },
      redirects: REDIRECTS_MAX,
      timeoutMs,
      maxResponseBytes: bytesMax,
      signal,
    });
    if (response.status >= 200 && response.status < 300) return response;
    const { host } = new URL(response.url);
    throw new DocumentError({
      code: 'DOCUMENT_HTTP_STATUS',
      message: `${host} returned ${response.status}`,
      facts: { host, status: response.status },
      retryable: true,
    });
  }

  async function getPlain(url: string, timeoutMs: number, signal: AbortSignal): Promise<Document> {
    const response = await get(url, 'application/json, image/*, */*;q=0.5', timeoutMs, signal);
    return { bytes: response.body, mediaType: mediaTypeOf(response), verified: null, decoded: null };
  }

  async function getBlock(url: string, id: ContentId, timeoutMs: number, signal: AbortSignal): Promise<Document> {
    const requested = new URL(url);
    requested.searchParams.set('format', 'raw');
    const response = await get(requested.href, 'application/vnd.ipld.raw, */*;q=0.5', timeoutMs, signal);
    const content = provenContent(id, response.body);
    if (content !== null) return { bytes: content, mediaType: null, verified: true, decoded: null };
    const isLarger = isBlockOf(id, response.body) === true;
    return isLarger ? getPlain(url, timeoutMs, signal) : unprovenAnswer(id, response);
  }

  return { getPlain, getBlock };
}

/** The block itself for `raw`, or the file in a `dag-pb` block that holds a whole one. */
function provenContent(id: ContentId, block: Uint8Array): Uint8Array | null {
  if (isBlockOf(id, block) === true) {
    if (id.codec === 'raw') return block;
    const unixfs = readUnixfsBlock(block);
    return unixfs?.kind === 'file' ? unixfs.content : null;
  }
  // The gateway returned the file, so the block is rebuilt.
  return id.codec === 'dag-pb' && isBlockOf(id, writeUnixfsFile(block)) === true ? block : null;
}

/** A small file would have been proven: this is a different one. */
function unprovenAnswer(id: ContentId, response: EgressResponse): Document {
  if (id.codec === 'dag-pb' && response.body.length > SINGLE_BLOCK_BYTES)
    return { bytes: response.body, mediaType: mediaTypeOf(response), verified: null, decoded: null };
  const { host } = new URL(response.url);
  throw new DocumentError({
    code: 'DOCUMENT_CID_MISMATCH',
    message: `${host} returned bytes that do not match ${id.text}`,
    facts: { host, cid: id.text },
    retryable: true,
  });
}

function mediaTypeOf({ headers }: EgressResponse): string | null {
  const type = headers['content-type'];
  return typeof type === 'string' ? (type.split(';')[0] ?? '').trim().toLowerCase() || null : null;
}
