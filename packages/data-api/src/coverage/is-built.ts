import type { Projection } from '@chainstead/sync';

/** Whether a derived state counts all rows of the chain, in SQL. During a rebuild, responses from it are not complete. */
export function isBuilt(chainId: string, { name, version }: Projection): string {
  return `EXISTS (SELECT FROM projections WHERE chain_id = ${chainId} AND state = '${name}' AND version = ${version} AND status = 'built')`;
}
