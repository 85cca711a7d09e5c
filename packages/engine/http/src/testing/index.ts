/** For tests of routes: the API, composed like the program. */
export { EXAMPLE_KEY, exampleApi } from './example-api.ts';
export { notedLimits } from './noted-limits.ts';
export { type PageAnswer, pageSchema } from './page-answer.ts';
