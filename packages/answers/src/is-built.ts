import type { DerivedState } from '@chainstead/sync';

/** Whether a derived state counts all rows of the chain, in SQL: while it is built anew, answers from it are not complete. */
export function isBuilt(chainId: string, { name, version }: DerivedState): string {
  return `EXISTS (SELECT FROM derived_states WHERE chain_id = ${chainId} AND state = '${name}' AND version = ${version} AND status = 'built')`;
}
