import type { Context } from 'hono';
import type { ConsoleSession } from './session-store.ts';

export interface ConsoleEnv {
  Variables: {
    requestId: string;
    session: ConsoleSession;
    /** The session's secret in the browser: never put it on a page. */
    sessionSecret: string;
    token: string;
  };
}

export type ConsoleContext = Context<ConsoleEnv>;
