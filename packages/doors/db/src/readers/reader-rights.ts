import type { ClientBase } from 'pg';
import { runAlone } from './run-alone.ts';

/** Null: safe for clients' queries, also after `set_config('role', …)`. */
export async function excessRights(client: Pick<ClientBase, 'query'>): Promise<string | null> {
  type Rights = { readonly login: string; readonly roles: string | null; readonly relations: string | null };
  const [rights] = await runAlone<Rights>(client, RIGHTS_SQL);
  if (rights === undefined || rights.roles !== null)
    return `The role ${rights?.login ?? ''} is a superuser, or a member of: ${rights?.roles ?? ''}`;
  return rights.relations === null
    ? null
    : `The role ${rights.login} may change, or read outside of the schemas analytics and contracts: ${rights.relations}`;
}

/** Extensions' relations, such as pg_stat_statements, are readable by all. */
const RIGHTS_SQL = `
WITH reachable AS MATERIALIZED (
  SELECT oid, rolname, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls OR rolname LIKE 'pg\\_%' AS is_powerful
  FROM pg_catalog.pg_roles WHERE pg_catalog.pg_has_role(session_user, oid, 'MEMBER')
), relation AS MATERIALIZED (
  SELECT c.oid, n.nspname IN ('analytics', 'contracts') AS is_offered
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
), excess AS (
  SELECT DISTINCT r.oid::regclass::text AS name
  FROM relation r, reachable
  WHERE NOT is_powerful AND (
    has_table_privilege(reachable.oid, r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
    OR has_any_column_privilege(reachable.oid, r.oid, 'INSERT, UPDATE, REFERENCES')
    OR (NOT is_offered AND (has_table_privilege(reachable.oid, r.oid, 'SELECT') OR has_any_column_privilege(reachable.oid, r.oid, 'SELECT'))))
  LIMIT 5
)
SELECT session_user::text AS login,
  (SELECT string_agg(rolname, ', ' ORDER BY rolname) FROM reachable WHERE is_powerful) AS roles,
  (SELECT string_agg(name, ', ' ORDER BY name) FROM excess) AS relations`;
