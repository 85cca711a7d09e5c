import type { RouterRoute } from 'hono/types';
import type { KeyScope } from './key-scope.ts';

/** The scope that each route asks for. */
export type RouteScopes = Map<RouterRoute, KeyScope>;
