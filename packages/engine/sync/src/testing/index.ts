/** For tests of other packages: commits by the engine, without a node. */
export { openRangeCommits, type RangeCommits } from './range-commits.ts';
