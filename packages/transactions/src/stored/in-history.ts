import { APPROVES_OTHERWISE } from '../evidence/evidence-bits.ts';
import { HAS_ROLE } from './schema.ts';

/**
 * SQL that holds of rows of `account_transactions` whose transactions belong into the account's history: it has a role, or somebody else brought about
 * that it let another move what is its own (all NFTs of a contract, or by Permit2), which no other table tells.
 */
export const IN_HISTORY = `(${HAS_ROLE} OR evidence & ${APPROVES_OTHERWISE} <> 0)`;
