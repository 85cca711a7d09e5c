import { APPROVES_OTHERWISE } from '../evidence/evidence-bits.ts';
import { HAS_ROLE } from './schema.ts';

/**
 * SQL for rows of `account_transactions` that belong to the account's history. Either it has a role, or another
 * sender's transaction approved assets of the account (all NFTs of a contract, or by Permit2), which no other table
 * stores.
 */
export const IN_HISTORY = `(${HAS_ROLE} OR evidence & ${APPROVES_OTHERWISE} <> 0)`;
