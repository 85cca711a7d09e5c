import { z } from '@hono/zod-openapi';
import { DocumentError } from '../collections/document-error.ts';
import { parseDocumentPlace } from '../collections/document-place.ts';
import { pictureOf } from './normalized-metadata.ts';

/** docs/api/nfts.md#nft-records */
export const mediaSchema = z
  .object({
    status: z.enum(['unsupported_media', 'invalid_url']).openapi({
      description: 'invalid_url: the image URL is invalid. Previews are not generated',
    }),
    original_media_url: z.string().openapi({ description: 'As in the metadata' }),
    updatedAt: z.iso.datetime({ precision: 3 }).optional(),
  })
  .openapi('NftMedia');

/** Previews are never created. No status may promise one: clients would poll forever. */
export function mediaOf(
  fields: Readonly<Record<string, unknown>>,
  readAt: Date | null,
): z.infer<typeof mediaSchema> | null {
  const url = pictureOf(fields);
  if (url === null) return null;
  try {
    parseDocumentPlace(url);
  } catch (error) {
    if (error instanceof DocumentError) return { status: 'invalid_url', original_media_url: url };
    throw error;
  }
  return {
    status: 'unsupported_media',
    original_media_url: url,
    ...(readAt !== null && { updatedAt: readAt.toISOString() }),
  };
}
