/** For tests of what resolves names: contracts that answer as those of the services do. */
export { deployNameContract } from './name-contracts.ts';
