import { rawSql, sql } from '@chainstead/db';
import { APPROVES_OTHERWISE } from '../evidence/evidence-bits.ts';
import { NO_ROLE } from './schema.ts';

export const HAS_ROLE = sql`roles > ${rawSql(NO_ROLE)}`;

/** Without a role: approvals in others' transactions. */
export const IN_HISTORY = sql`(${HAS_ROLE} OR evidence & ${rawSql(APPROVES_OTHERWISE)} <> 0)`;
