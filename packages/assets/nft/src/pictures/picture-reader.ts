import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError, type Clock } from '@chainstead/core';
import { addressBytes, type ReadDatabase, sql } from '@chainstead/db';
import type { Egress } from '@chainstead/egress';
import { defineApiError } from '@chainstead/http';
import PQueue from 'p-queue';
import { getCollection } from '../collections/get-collection.ts';
import { createDocumentReader, type DocumentReader } from '../collections/read-document.ts';
import { readDocument } from '../document-object.ts';
import { pictureOf } from '../records/normalized-metadata.ts';

interface Picture {
  readonly bytes: Uint8Array;
  readonly type: RasterType;
}

export interface PictureReader {
  /** @throws PictureUnknownError, PictureUnreadableError, PicturesBusyError */
  read(database: Parameters<typeof readPictureUri>[0], chain: Chain, subject: PictureSubject): Promise<Picture>;
}

export interface PictureReaderOptions {
  readonly egress: Egress;
  readonly ipfsGateways: readonly string[];
  readonly arweaveGateways: readonly string[];
  readonly clock: Clock;
  /** As sent and after decompression. @default 8 MiB */
  readonly bytesMax?: number;
  /** Milliseconds for all locations. @default 12,000 */
  readonly timeoutMs?: number;
  readonly atOnce?: number;
  readonly waitingMax?: number;
}

export function createPictureReader(options: PictureReaderOptions): PictureReader {
  const { timeoutMs = 12_000, waitingMax = 60, bytesMax = 8_388_608 } = options;
  const documents = createDocumentReader({ ...options, bytesMax });
  const turns = new PQueue({ concurrency: options.atOnce ?? 6 });
  return {
    async read(database, chain, subject) {
      const uri = await readPictureUri(database, chain, subject);
      if (uri === null) throw new PictureUnknownError();
      if (turns.size >= waitingMax) throw new PicturesBusyError();
      return turns.add(() => readPicture(documents, uri, timeoutMs));
    },
  };
}

async function readPicture(documents: DocumentReader, uri: string, timeoutMs: number): Promise<Picture> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { bytes } = await documents.read(uri, signal).catch((error: unknown) => {
    // A page must not reveal which internal addresses a host resolves to.
    if (error instanceof ChainsteadError) throw new PictureUnreadableError(error.code, error);
    if (signal.aborted) throw new PictureUnreadableError(`nothing came within ${timeoutMs} ms`, error);
    throw error;
  });
  const type = sniffImage(bytes);
  if (type === null) throw new PictureUnreadableError('it is no PNG, JPEG, GIF, WebP or AVIF');
  return { bytes, type };
}

interface PictureSubject {
  readonly token: Address;
  readonly tokenId: string | null;
}

async function readPictureUri(
  database: ReadDatabase,
  chain: Chain,
  { token, tokenId }: PictureSubject,
): Promise<string | null> {
  if (tokenId === null) return (await getCollection(database, chain.id, token)).collectionLogo;
  const [row] = await database.select<{ metadata: string | null }>(
    sql`SELECT metadata FROM nft_token_metadata WHERE token_address = ${addressBytes(token)} AND chain_id = ${chain.id} AND token_id = ${tokenId}::numeric`,
  );
  const document = readDocument(row?.metadata ?? null);
  return document === null ? null : pictureOf(document.fields);
}

class PictureUnknownError extends defineApiError('PICTURE_UNKNOWN', () => ({
  status: 404,
  message: 'The indexed metadata of this token has no image',
})) {}

/** The picture could not be fetched, or its type is not served. A 404: untrusted metadata can cause any number of them. */
class PictureUnreadableError extends defineApiError('PICTURE_UNREADABLE', (reason: string, cause?: unknown) => ({
  status: 404,
  message: `The image can't be shown: ${reason}`,
  cause,
})) {}

/** This process is reading its maximum of pictures, and its queue is full. */
export class PicturesBusyError extends defineApiError('PICTURES_BUSY', () => ({
  status: 503,
  message: 'Too many images are being fetched: retry in a moment',
  headers: { 'retry-after': '1' },
  retryable: true,
})) {}

/** Only pixels: these types execute nothing and load nothing. */
type RasterType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif';

const BEGINNINGS: readonly (readonly [RasterType, readonly (readonly [at: number, text: string])[]])[] = [
  ['image/png', [[0, '\x89PNG\r\n\x1a\n']]],
  ['image/jpeg', [[0, '\xff\xd8\xff']]],
  ['image/gif', [[0, 'GIF87a']]],
  ['image/gif', [[0, 'GIF89a']]],
  [
    'image/webp',
    [
      [0, 'RIFF'],
      [8, 'WEBP'],
    ],
  ],
  ['image/avif', [[4, 'ftypavif']]],
  ['image/avif', [[4, 'ftypavis']]],
];

export function sniffImage(bytes: Uint8Array): RasterType | null {
  const beginning = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  return BEGINNINGS.find(([, parts]) => parts.every(([at, text]) => beginning.startsWith(text, at)))?.[0] ?? null;
}
