import type { Logger } from '@chainstead/core';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Principal } from './keys/key-scope.ts';

export interface ApiEnv {
  Variables: {
    requestId: string;
    principal: Principal | null;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
export type ApiContext = Context<ApiEnv>;

/** Returns a logger that adds the request id. Created on demand: most requests log nothing themselves. */
export function requestLogger(c: ApiContext, logger: Logger): Logger {
  return logger.child({ request_id: c.get('requestId') });
}
