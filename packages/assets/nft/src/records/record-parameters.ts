import { booleanParameter, textParameter } from '@chainstead/http';

export type TokenIdFormat = 'decimal' | 'hex';

const FORMATS: readonly TokenIdFormat[] = ['decimal', 'hex'];

export function recordParameters({ normalizeMetadata }: { readonly normalizeMetadata: boolean }) {
  return {
    format: textParameter('decimal or hex', (text) => FORMATS.find((format) => format === text.toLowerCase()))
      .optional()
      .openapi({
        type: 'string',
        enum: [...FORMATS],
        default: 'decimal',
        description: 'Format of token_id in the response.',
      }),
    normalizeMetadata: booleanParameter({
      default: normalizeMetadata,
      description: 'Adds normalized_metadata: the standard members of the metadata.',
    }),
    media_items: booleanParameter({
      default: false,
      description: 'Adds media: the location of the image. Previews are not generated.',
    }),
  };
}

export function includePricesParameter() {
  return booleanParameter({
    default: false,
    description: 'Adds last_sale, the last sale paid in ether within a year. Floor and list prices are null.',
  });
}
