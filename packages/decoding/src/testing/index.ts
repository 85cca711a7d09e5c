/** For tests of what reads ABIs: types with values of them. */
export { exampleArguments } from './example-types.ts';
