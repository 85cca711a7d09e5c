import { DocumentError } from './document-error.ts';

/** RFC 2397, and the looser forms that contracts use. */
export interface DataUri {
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
