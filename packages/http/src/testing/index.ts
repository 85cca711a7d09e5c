/** For tests of routes: the API as the program composes it. */
export { EXAMPLE_KEY, exampleApi } from './example-api.ts';
export { notedLimits } from './noted-limits.ts';
