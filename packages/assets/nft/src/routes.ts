import { blockParameter, booleanParameter, routesFor } from '@chainstead/http';

/** Routes that share nothing. Others name their services. */
export const { defineRoute, defineListRoute } = routesFor<unknown>();

export const includeParameter = (description: string) =>
  booleanParameter({ default: false, description }).default(false);

/** Clients of the hosted API send text. */
export const TO_BLOCK_AS_TEXT = {
  to_block: blockParameter('Highest block, inclusive. Takes precedence over to_date.').openapi({
    type: 'string',
    pattern: '^[0-9]+$',
  }),
};
