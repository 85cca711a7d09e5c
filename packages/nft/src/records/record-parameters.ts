import { booleanParameter, textParameter } from '@chainstead/http';

/** How token ids are written in answers. */
export type TokenIdFormat = 'decimal' | 'hex';

const FORMATS: readonly TokenIdFormat[] = ['decimal', 'hex'];

/** The query parameters that operations on records share. @param normalizeMetadata its default */
export function recordParameters({ normalizeMetadata }: { readonly normalizeMetadata: boolean }) {
  return {
    format: textParameter('decimal or hex', (text) => FORMATS.find((format) => format === text.toLowerCase()))
      .optional()
      .openapi({
        type: 'string',
        enum: [...FORMATS],
        default: 'decimal',
        description: 'How token_id is written in the answer.',
      }),
    normalizeMetadata: booleanParameter({
      default: normalizeMetadata,
      description: 'Adds normalized_metadata: the usual members of the document.',
    }),
    media_items: booleanParameter({
      default: false,
      description: 'Adds media: where the picture is. No previews are made.',
    }),
  };
}

/** For those that can show prices. */
export function includePricesParameter() {
  return booleanParameter({
    default: false,
    description: 'Adds last_sale, the last sale paid in ether within a year; floor and list prices are null.',
  });
}
