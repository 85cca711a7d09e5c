import type { Context } from 'hono';
import type { ConsoleSession } from './session-store.ts';

export interface ConsoleEnv {
  Variables: {
    requestId: string;
    session: ConsoleSession;
    /** Never put it on a page. */
    sessionSecret: string;
    token: string;
  };
}

export type ConsoleContext = Context<ConsoleEnv>;
