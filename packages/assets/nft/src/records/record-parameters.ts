import { booleanParameter } from '@chainstead/http';
import { formatParameter, includeParameter } from '../routes.ts';

export function recordParameters({ normalizeMetadata }: { readonly normalizeMetadata: boolean }) {
  return {
    format: formatParameter('Format of token_id in the response.'),
    normalizeMetadata: booleanParameter({
      default: normalizeMetadata,
      description: 'Adds normalized_metadata: the standard members of the metadata.',
    }).default(normalizeMetadata),
    media_items: includeParameter('Adds media: the location of the image. Previews are not generated.'),
  };
}

export const INCLUDE_PRICES = {
  include_prices: includeParameter(
    'Adds last_sale, the last sale paid in ether within a year. Floor and list prices are null.',
  ),
};
