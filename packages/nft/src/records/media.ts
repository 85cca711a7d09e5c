import { z } from '@hono/zod-openapi';
import { DocumentError } from '../collections/document-error.ts';
import { parseDocumentPlace } from '../collections/document-place.ts';
import { pictureOf } from './normalized-metadata.ts';

/** What is said of a token's picture (docs/provider-contract.md#nft-records). */
export const mediaSchema = z
  .object({
    status: z.enum(['unsupported_media', 'invalid_url']).openapi({
      description: 'invalid_url: the place can’t be understood. No previews are made here',
    }),
    original_media_url: z.string().openapi({ description: 'As the document names it' }),
    updatedAt: z.iso.datetime({ precision: 3 }).optional(),
  })
  .openapi('NftMedia');

/**
 * Where the picture of a document is; null where it names none. Previews are never made, which no status may promise: clients would ask
 * again and again.
 * @param readAt when the document was read
 */
export function mediaOf(
  fields: Readonly<Record<string, unknown>>,
  readAt: Date | null,
): z.infer<typeof mediaSchema> | null {
  const url = pictureOf(fields);
  if (url === null) return null;
  if (!isPlace(url)) return { status: 'invalid_url', original_media_url: url };
  return {
    status: 'unsupported_media',
    original_media_url: url,
    ...(readAt !== null && { updatedAt: readAt.toISOString() }),
  };
}

function isPlace(url: string): boolean {
  try {
    parseDocumentPlace(url);
    return true;
  } catch (error) {
    if (error instanceof DocumentError) return false;
    throw error;
  }
}
