import { rawSql, sql } from '@chainstead/db';
import { APPROVES_OTHERWISE } from '../evidence/evidence-bits.ts';
import { NO_ROLE } from './schema.ts';

/** The condition on rows of `account_transactions` that the account has a role. */
export const HAS_ROLE = sql`roles > ${rawSql(NO_ROLE)}`;

/**
 * The condition on rows of `account_transactions` that they belong to the account's history. Either it has a role, or another
 * sender's transaction approved assets of the account (all NFTs of a contract, or by Permit2), which no other table
 * stores.
 */
export const IN_HISTORY = sql`(${HAS_ROLE} OR evidence & ${rawSql(APPROVES_OTHERWISE)} <> 0)`;
