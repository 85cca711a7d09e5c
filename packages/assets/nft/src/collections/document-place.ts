import { hash } from 'node:crypto';
import { ChainsteadError } from '@chainstead/core';
import { base32 } from 'multiformats/bases/base32';
import { base36 } from 'multiformats/bases/base36';
import { base58btc } from 'multiformats/bases/base58';
import { base64url } from 'multiformats/bases/base64';
import { CID } from 'multiformats/cid';

export type DocumentPlace =
  | { readonly kind: 'data'; readonly uri: string }
  | { readonly kind: 'http'; readonly url: string }
  | {
      readonly kind: 'ipfs';
      readonly id: ContentId;
      /** Percent-encoded, with a leading `/`; empty for the identifier alone. */
      readonly path: string;
      readonly given: string | null;
    }
  | { readonly kind: 'arweave'; readonly path: string };

const URI_LENGTH_MAX = 2_048;

/**
 * `https:`, `ipfs:`, a bare CID, a gateway's URL, `ar:`, `data:` or JSON. The guarded client checks
 * hosts. @throws DocumentError
 */
export function parseDocumentPlace(text: string): DocumentPlace {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: contracts return padding and line breaks
  const uri = text.replace(/^[\s\u0000]+|[\s\u0000]+$/g, '');
  if (/^data:/i.test(uri)) return { kind: 'data', uri };
  if (IS_JSON.test(uri)) return { kind: 'data', uri: `data:application/json,${uri}` };
  if (uri.length > URI_LENGTH_MAX) throw invalid(`it is longer than ${URI_LENGTH_MAX} characters`);
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'http':
    case 'https':
      return webPlace(uri);
    case 'ipfs': {
      const [, id = '', path = ''] = /^ipfs:\/*(?:ipfs\/+)*([^/?#]*)(.*)$/is.exec(uri) ?? [];
      return { kind: 'ipfs', id: requireContentId(id), path: encodePath(path), given: null };
    }
    case 'ar': {
      const [, id = '', path = ''] = /^ar:\/*([^/?#]*)(.*)$/is.exec(uri) ?? [];
      if (!/^[A-Za-z0-9_-]{43}$/.test(id)) throw invalid('it names no Arweave transaction');
      return { kind: 'arweave', path: `/${id}${encodePath(path)}` };
    }
    case undefined: {
      const [, text = '', path = ''] = /^\/*(?:ipfs\/+)?([^/?#]*)(.*)$/s.exec(uri) ?? [];
      const id = parseContentId(text);
      if (id === null) throw invalid('it has no protocol and is no IPFS content identifier');
      return { kind: 'ipfs', id, path: encodePath(path), given: null };
    }
    default:
      throw new DocumentError({
        code: 'DOCUMENT_URI_UNSUPPORTED',
        message: `The protocol ${scheme.slice(0, 40)}: is not supported`,
        facts: { protocol: scheme.slice(0, 40) },
      });
  }
}

/** Unlike `{id}.json`, an object is empty or starts with a member name. */
const IS_JSON = /^\{\s*["}]/;

function webPlace(uri: string): DocumentPlace {
  const url = URL.parse(uri);
  if (url === null) throw invalid('it is not a URL');
  if (url.username !== '' || url.password !== '') throw invalid('it holds a user name or password');
  const byPath = /^\/ipfs\/([^/]+)(\/.*)?$/.exec(url.pathname);
  const byHost = /^([^.]+)\.ipfs\./.exec(url.hostname);
  const id = parseContentId(byPath?.[1] ?? byHost?.[1] ?? '');
  if (id === null) return { kind: 'http', url: url.href };
  const path = (byPath === null ? url.pathname : (byPath[2] ?? '')).replace(/\/+$/, '');
  return { kind: 'ipfs', id, path, given: url.href };
}

/** Names contain anything. Dot segments would leave a gateway's files. */
function encodePath(path: string): string {
  const segments = path
    .split('/')
    .filter((segment) => segment !== '')
    .map((segment) => encodeURIComponent(decodeOr(segment).toWellFormed()));
  if (segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment) || /%(2f|5c|00)/i.test(segment)))
    throw invalid('its path leaves its place');
  return segments.map((segment) => `/${segment}`).join('');
}

function decodeOr(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function invalid(reason: string): DocumentError {
  return new DocumentError({ code: 'DOCUMENT_URI_INVALID', message: `The URI can't be used: ${reason}` });
}

export interface ContentId {
  /** `Qm…` for version 0, base32 for version 1. */
  readonly text: string;
  /** `other`: its bytes are not a file. */
  readonly codec: 'raw' | 'dag-pb' | 'other';
  /** Null for other hash functions, which are not checked. */
  readonly sha256: Uint8Array | null;
}

const RAW = 0x55;
const DAG_PB = 0x70;
const SHA2_256 = 0x12;
const TEXT_LENGTH_MAX = 256;
const ANY_BASE = base32.decoder.or(base36.decoder).or(base58btc.decoder).or(base64url.decoder);

export function parseContentId(text: string): ContentId | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  try {
    // Upper-case base32 (`B…`) is equivalent. In the other bases case matters.
    const cid = /^Qm/.test(text)
      ? CID.parse(text)
      : CID.parse(/^B[A-Z2-7]+$/.test(text) ? text.toLowerCase() : text, ANY_BASE);
    const { multihash } = cid;
    return {
      text: cid.toString(),
      codec: cid.code === RAW ? 'raw' : cid.code === DAG_PB ? 'dag-pb' : 'other',
      sha256: multihash.code === SHA2_256 && multihash.digest.length === 32 ? multihash.digest : null,
    };
  } catch {
    return null;
  }
}

/** @throws DocumentError DOCUMENT_CID_INVALID */
function requireContentId(text: string): ContentId {
  const id = parseContentId(text);
  if (id !== null) return id;
  throw new DocumentError({
    code: 'DOCUMENT_CID_INVALID',
    message: `${JSON.stringify(text.slice(0, 80))} is not an IPFS content identifier`,
  });
}

/** Null if its hash function is not supported. */
export function isBlockOf(id: ContentId, block: Uint8Array): boolean | null {
  return id.sha256 === null ? null : Buffer.from(id.sha256).equals(hash('sha256', block, 'buffer'));
}

type DocumentErrorCode =
  | 'DOCUMENT_URI_INVALID'
  /** Not http, https, ipfs, ar or data. */
  | 'DOCUMENT_URI_UNSUPPORTED'
  | 'DOCUMENT_DATA_INVALID'
  | 'DOCUMENT_CID_INVALID'
  | 'DOCUMENT_CID_MISMATCH'
  | 'DOCUMENT_HTTP_STATUS'
  | 'DOCUMENT_TOO_LARGE'
  /** The time for all locations together. */
  | 'DOCUMENT_TIMEOUT'
  | 'DOCUMENT_NOT_JSON'
  | 'DOCUMENT_TOO_DEEP'
  /** Several locations failed in different ways; the message names each. */
  | 'DOCUMENT_GATEWAYS_FAILED';

export class DocumentError extends ChainsteadError {
  constructor(options: {
    readonly code: DocumentErrorCode;
    readonly message: string;
    readonly facts?: Readonly<Record<string, unknown>>;
    readonly retryable?: boolean;
  }) {
    super({ ...options, retryable: options.retryable ?? false });
  }
}
