import { blockParameter, booleanParameter, routesFor, textParameter, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';

/** Routes that share nothing. Others name their services. */
export const { defineRoute, defineListRoute } = routesFor<unknown>();

export type TokenIdFormat = 'decimal' | 'hex';

const FORMATS: readonly TokenIdFormat[] = ['decimal', 'hex'];

export function formatParameter(description: string) {
  return textParameter('decimal or hex', (text) => FORMATS.find((format) => format === text.toLowerCase()))
    .optional()
    .openapi({ type: 'string', enum: [...FORMATS], default: 'decimal', description })
    .default('decimal');
}

/** False unless requested. */
export function includeParameter(description: string) {
  return booleanParameter({ default: false, description }).default(false);
}

/** Clients of the hosted API send text. */
export const TO_BLOCK_AS_TEXT = {
  to_block: blockParameter('Highest block, inclusive. Takes precedence over to_date.').openapi({
    type: 'string',
    pattern: '^[0-9]+$',
  }),
};

export const contractType = wire.wire(z.enum(['ERC721', 'ERC1155']));
export const tokenId = wire.wire(
  z.string().openapi({ pattern: '^([0-9]+|0x[0-9a-f]+)$', example: '7781' }),
  ({ id, format }: { readonly id: string; readonly format: TokenIdFormat }) =>
    format === 'hex' ? `0x${BigInt(id).toString(16)}` : id,
);
/** Null if prices are requested, otherwise absent: floor prices are not available. */
export const floorPrice = wire.wire(z.null().optional());
/** Without an example. */
export const time = wire.wire(z.iso.datetime({ precision: 3 }), (date: Date) => date.toISOString());
