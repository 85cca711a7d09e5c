import type { RouterRoute } from 'hono/types';
import type { KeyScope } from '../keys/key-scope.ts';

/** The required scope of each route. */
export type RouteScopes = Map<RouterRoute, KeyScope>;
