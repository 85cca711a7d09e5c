import type { Logger } from '@chainstead/core';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Principal } from './principal.ts';

/** What the API base leaves in the context for a route. */
export interface ApiEnv {
  Variables: {
    /** The request's id: in the answer's `x-request-id` and in every log line. */
    requestId: string;
    /** Whose key it is; null on open routes and while no key is configured. */
    principal: Principal | null;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
export type ApiContext = Context<ApiEnv>;

/** A logger whose lines carry the request's id. Made on demand: most requests log nothing of their own. */
export function requestLogger(c: ApiContext, logger: Logger): Logger {
  return logger.child({ request_id: c.get('requestId') });
}
