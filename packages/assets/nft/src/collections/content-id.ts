import { hash } from 'node:crypto';
import { base32 } from 'multiformats/bases/base32';
import { base36 } from 'multiformats/bases/base36';
import { base58btc } from 'multiformats/bases/base58';
import { base64url } from 'multiformats/bases/base64';
import { CID } from 'multiformats/cid';
import { DocumentError } from './document-error.ts';

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
export function requireContentId(text: string): ContentId {
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
