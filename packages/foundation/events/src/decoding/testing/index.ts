/** For tests of ABI parsing: types with values. */
export { exampleArguments } from './example-types.ts';
