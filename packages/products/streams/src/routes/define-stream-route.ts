import { defineRoute } from '@chainstead/http';
import { refuseInvalid } from './validation-failed.ts';

/** Only routes that cause calls of nodes or webhooks have a rate limit: 429 is one of their `errors`. */
export const defineStreamRoute: typeof defineRoute = (app, dependencies, route) =>
  defineRoute(app, dependencies, { refuseInvalid, hasRateLimit: false, ...route });
