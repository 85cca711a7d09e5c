import type { Logger } from '@chainstead/core';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { AuditActor } from './audit/audit-log.ts';
import { clientAddressOf } from './audit/client-address.ts';
import type { Principal } from './keys/key-store.ts';

export interface ApiEnv {
  Variables: {
    requestId: string;
    principal: Principal | null;
    /** Aborts once the response is sent, has failed, or its client disconnected. */
    ended: AbortSignal;
    /** Why the response is not available yet. */
    reason?: string;
  };
}

export type ApiApp = OpenAPIHono<ApiEnv>;
export type ApiContext = Context<ApiEnv>;

export function requestLogger(c: ApiContext, logger: Logger): Logger {
  return logger.child({ request_id: c.get('requestId') });
}

const OPEN_ID = 'open';

export function apiActorOf(c: ApiContext): AuditActor {
  const principal = c.get('principal');
  return {
    door: 'api',
    id: principal?.id ?? OPEN_ID,
    name: principal?.name ?? null,
    address: clientAddressOf(c.env),
    requestId: c.get('requestId'),
  };
}
