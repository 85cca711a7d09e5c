import type { Chain } from '@chainstead/chains';
import { ChainsteadError, type Clock } from '@chainstead/core';
import type { Egress } from '@chainstead/egress';
import PQueue from 'p-queue';
import { createDocumentReader, type DocumentReader } from '../collections/read-document.ts';
import { PicturesBusyError, PictureUnknownError, PictureUnreadableError } from './picture-error.ts';
import { type PictureSubject, readPictureUri } from './read-picture-uri.ts';
import { type RasterType, sniffImage } from './sniff-image.ts';

/** A picture whose bytes are of that type. */
export interface Picture {
  readonly bytes: Uint8Array;
  readonly type: RasterType;
}

export interface PictureReader {
  /**
   * The picture that indexed metadata names.
   * @throws PictureUnknownError, PictureUnreadableError, PicturesBusyError
   */
  read(database: Parameters<typeof readPictureUri>[0], chain: Chain, subject: PictureSubject): Promise<Picture>;
}

export interface PictureReaderOptions {
  /** The guarded client: metadata names strangers' URLs. */
  readonly egress: Egress;
  readonly ipfsGateways: readonly string[];
  readonly arweaveGateways: readonly string[];
  readonly clock: Clock;
  /** Bytes of a picture at most, as sent and after decompression. @default 8 MiB */
  readonly bytesMax?: number;
  /** For one picture, all places together. Milliseconds. @default 12,000 */
  readonly timeoutMs?: number;
  /** Read at once. @default 6 */
  readonly atOnce?: number;
  /** That wait for a turn at most. @default 60 */
  readonly waitingMax?: number;
}

const BYTES_MAX = 8_388_608;
const TIMEOUT_MS = 12_000;
const AT_ONCE = 6;
const WAITING_MAX = 60;

/** Reads pictures from wherever metadata says that they are, as metadata itself is read. */
export function createPictureReader(options: PictureReaderOptions): PictureReader {
  const { timeoutMs = TIMEOUT_MS, waitingMax = WAITING_MAX } = options;
  const documents = createDocumentReader({ ...options, bytesMax: options.bytesMax ?? BYTES_MAX });
  const turns = new PQueue({ concurrency: options.atOnce ?? AT_ONCE });
  return {
    async read(database, chain, subject) {
      const uri = await readPictureUri(database, chain, subject);
      if (uri === null) throw new PictureUnknownError();
      if (turns.size >= waitingMax) throw new PicturesBusyError();
      return turns.add(() => readPicture(documents, uri, timeoutMs));
    },
  };
}

/** @throws PictureUnreadableError */
async function readPicture(documents: DocumentReader, uri: string, timeoutMs: number): Promise<Picture> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { bytes } = await documents.read(uri, signal).catch((error: unknown) => {
    // Which of our own addresses a host leads to is nothing for a page.
    if (error instanceof ChainsteadError) throw new PictureUnreadableError(error.code, error);
    if (signal.aborted) throw new PictureUnreadableError(`nothing came within ${timeoutMs} ms`, error);
    throw error;
  });
  const type = sniffImage(bytes);
  if (type === null) throw new PictureUnreadableError('it is no PNG, JPEG, GIF, WebP or AVIF');
  return { bytes, type };
}
