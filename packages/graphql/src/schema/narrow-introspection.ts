import type { WithPgClient } from '@dataplan/pg';
import { makeIntrospectionQuery } from 'pg-introspection';

/** The query of the library reads all tables of the database; this one only those with `oids`. */
export function narrowIntrospection(withClient: WithPgClient, oids: readonly string[]): WithPgClient {
  return (settings, callback) =>
    withClient(settings, (client) =>
      callback({
        ...client,
        query: (query) => client.query(query.text === WHOLE ? { ...query, text: NARROW, values: [oids] } : query),
      }),
    );
}

const WHOLE = makeIntrospectionQuery();
const IN_OTHERS =
  "in (select namespaces._id from namespaces where nspname <> 'information_schema' and nspname not like 'pg\\_%')";

const NARROW = [
  [
    'with\n',
    'with shown as (select class.oid, class.reltype from pg_catalog.pg_class class where class.oid = any ($1::oid[])),\n',
  ],
  [
    `where relnamespace ${IN_OTHERS}`,
    `where oid in (select oid from shown)
      or oid in (select indexrelid from pg_catalog.pg_index where indrelid in (select oid from shown))`,
  ],
  [`where connamespace ${IN_OTHERS}`, 'where conrelid in (select oid from shown)'],
  [`where pronamespace ${IN_OTHERS}`, 'where false'],
  // Types of rows of other tables are left out, with their arrays.
  [
    `where (typnamespace ${IN_OTHERS})\n    or (typnamespace = 'pg_catalog'::regnamespace)`,
    `where typrelid in (select oid from shown) or typelem in (select reltype from shown)
      or (typrelid = 0 and not exists (select from pg_catalog.pg_type item where item.oid = pg_type.typelem and item.typrelid <> 0))`,
  ],
].reduce((text, [whole = '', narrow = '']) => {
  if (!text.includes(whole)) throw new RangeError(`The introspection query of the library has no ${whole}`);
  return text.replace(whole, () => narrow);
}, WHOLE);
