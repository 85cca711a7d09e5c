/** For tests of routes: the API as the program composes it. */
export { EXAMPLE_KEY, exampleApi } from './example-api.ts';
export { type NotedLimits, notedLimits } from './noted-limits.ts';
