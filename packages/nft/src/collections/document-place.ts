import { type ContentId, parseContentId, requireContentId } from './content-id.ts';
import { DocumentError } from './document-error.ts';

/** The location of a document, from all URI forms that contracts use. */
export type DocumentPlace =
  | { readonly kind: 'data'; readonly uri: string }
  | { readonly kind: 'http'; readonly url: string }
  | {
      readonly kind: 'ipfs';
      readonly id: ContentId;
      /** Path below the identifier, percent-encoded, with a leading `/`; empty for the identifier alone. */
      readonly path: string;
      /** The gateway URL that the contract returned, if any. */
      readonly given: string | null;
    }
  /** Transaction id, and a path below it. */
  | { readonly kind: 'arweave'; readonly path: string };

/** Longest URI other than `data:`. Characters. */
export const URI_LENGTH_MAX = 2_048;

/**
 * Parses a URI as contracts write it: `https://`, `ipfs://CID/path`, `ipfs://ipfs/CID`, a bare CID, any gateway's URL,
 * `ar://`, `data:`, or the JSON document itself. Host addresses are not checked here: the guarded client does that when
 * it connects.
 * @throws DocumentError DOCUMENT_URI_INVALID, DOCUMENT_URI_UNSUPPORTED, DOCUMENT_CID_INVALID
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
    case 'ipfs':
      return ipfsPlace(uri.slice('ipfs:'.length));
    case 'ar':
      return arweavePlace(uri.slice('ar:'.length));
    case undefined:
      return barePlace(uri);
    default:
      throw new DocumentError({
        code: 'DOCUMENT_URI_UNSUPPORTED',
        message: `The protocol ${scheme.slice(0, 40)}: is not supported`,
        facts: { protocol: scheme.slice(0, 40) },
      });
  }
}

/** An object is empty or starts with a member name, which `{id}.json` does not. */
const IS_JSON = /^\{\s*["}]/;

function webPlace(uri: string): DocumentPlace {
  const url = URL.parse(uri);
  if (url === null) throw invalid('it is not a URL');
  if (url.username !== '' || url.password !== '') throw invalid('it holds a user name or password');
  const byPath = /^\/ipfs\/([^/]+)(\/.*)?$/.exec(url.pathname);
  const byHost = /^([^.]+)\.ipfs\./.exec(url.hostname);
  const id = parseContentId(byPath?.[1] ?? byHost?.[1] ?? '');
  if (id === null) return { kind: 'http', url: url.href };
  // The path of a URL is already encoded and has no dot segments left.
  const path = (byPath === null ? url.pathname : (byPath[2] ?? '')).replace(/\/+$/, '');
  return { kind: 'ipfs', id, path, given: url.href };
}

/** Parses the part after `ipfs:`. Some contracts repeat `ipfs/`, some omit the slashes. */
function ipfsPlace(rest: string): DocumentPlace {
  const [, id = '', path = ''] = /^\/*(?:ipfs\/+)*([^/?#]*)(.*)$/s.exec(rest) ?? [];
  return { kind: 'ipfs', id: requireContentId(id), path: encodePath(path), given: null };
}

/** Parses an IPFS path or identifier without a protocol. */
function barePlace(uri: string): DocumentPlace {
  const [, id = '', path = ''] = /^\/*(?:ipfs\/+)?([^/?#]*)(.*)$/s.exec(uri) ?? [];
  const parsed = parseContentId(id);
  if (parsed === null) throw invalid('it has no protocol and is no IPFS content identifier');
  return { kind: 'ipfs', id: parsed, path: encodePath(path), given: null };
}

function arweavePlace(rest: string): DocumentPlace {
  const [, id = '', path = ''] = /^\/*([^/?#]*)(.*)$/s.exec(rest) ?? [];
  if (!/^[A-Za-z0-9_-]{43}$/.test(id)) throw invalid('it names no Arweave transaction');
  return { kind: 'arweave', path: `/${id}${encodePath(path)}` };
}

/**
 * File names contain anything (`#1.json`, spaces), percent-encoded or not. Dot segments would leave the file tree of a
 * gateway.
 */
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
    // The percent sign encodes nothing: it is part of the name.
    return segment;
  }
}

function invalid(reason: string): DocumentError {
  return new DocumentError({ code: 'DOCUMENT_URI_INVALID', message: `The URI can't be used: ${reason}` });
}
