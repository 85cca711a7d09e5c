import type { Context } from 'hono';
import type { ConsoleSession } from './session-store.ts';

/** The console's values in the context of a request. */
export interface ConsoleEnv {
  Variables: {
    /** Set by the API. */
    requestId: string;
    session: ConsoleSession;
    /** The session's secret in the browser: never put it on a page. */
    sessionSecret: string;
    /** The token for its changes. */
    token: string;
  };
}

export type ConsoleContext = Context<ConsoleEnv>;
